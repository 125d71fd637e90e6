// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import static dev.zkrecipes.mutex.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import java.time.Duration;

/** The client under test, behind a proxy, and that of its rivals. Each {@link Scene} plays on a path of its own. */
final class Contenders implements AutoCloseable {
    /** Longer than any wait of a test, so that nothing is gone just because its session is. */
    private static final Duration SESSION = Duration.ofSeconds(6);

    final EmbeddedZooKeeper server;
    final Recipe recipe;
    final FaultProxy proxy;
    final ZooKeeperClient client;
    final ZooKeeperClient rivals;

    private Contenders(EmbeddedZooKeeper server, Recipe recipe) {
        this.server = server;
        this.recipe = recipe;
        this.proxy = FaultProxy.to(server);
        this.client = connect(proxy.connectString());
        this.rivals = connect(server.connectString());
    }

    static Contenders open(EmbeddedZooKeeper server, Recipe recipe) throws InterruptedException {
        Contenders contenders = new Contenders(server, recipe);
        contenders.awaitConnected();
        return contenders;
    }

    private static ZooKeeperClient connect(String connectString) {
        return ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(SESSION)
                .build();
    }

    void awaitConnected() throws InterruptedException {
        assertThat(client.awaitConnected(Duration.ofSeconds(5))).isTrue();
        assertThat(rivals.awaitConnected(Duration.ofSeconds(5))).isTrue();
    }

    /** Cuts the client under test off until the proxy accepts again. */
    void disconnect() {
        proxy.refuse();
        await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
    }

    /** The session of the client under test, as the server knows it. */
    long session() {
        return client.zooKeeper().orElseThrow().getSessionId();
    }

    /** Waits until so many requests stand behind their rivals and watch them. */
    void awaitWatches(int count) {
        await().until(() -> server.watchCount() == count);
    }

    @Override
    public void close() {
        client.close();
        rivals.close();
        proxy.close();
    }
}
