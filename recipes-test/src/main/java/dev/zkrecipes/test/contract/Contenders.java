// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.internal.MachineLoad;
import dev.zkrecipes.test.internal.Remains;
import java.time.Duration;

/**
 * The client under test, which is behind a proxy, and the client of its rivals. Each {@link Scene} has its own path.
 */
final class Contenders implements AutoCloseable {
    /** Longer than any wait of a test, so that nothing disappears because a session has expired. */
    static final Duration SESSION = Duration.ofSeconds(6);

    private static final Duration LIMIT = Duration.ofSeconds(20);

    /**
     * A session so long that the client checks no lease during a test. Such a check would add to the requests that the
     * test counts.
     */
    static final Duration WITHOUT_CHECKS = Duration.ofSeconds(60);

    final EmbeddedZooKeeper server;
    final Recipe recipe;
    final FaultProxy proxy;
    final ZooKeeperClient client;
    final ZooKeeperClient rivals;

    private Contenders(EmbeddedZooKeeper server, Recipe recipe, Duration session) {
        this.server = server;
        this.recipe = recipe;
        this.proxy = FaultProxy.to(server);
        // The address is given twice: with only one, ZooKeeper's client waits a second longer before it reconnects.
        this.client = connect(proxy.connectString() + "," + proxy.connectString(), session);
        this.rivals = connect(server.connectString(), WITHOUT_CHECKS);
    }

    static Contenders open(EmbeddedZooKeeper server, Recipe recipe) throws InterruptedException {
        return open(server, recipe, SESSION);
    }

    /** Opens contenders with another session time-out for the client under test. */
    static Contenders open(EmbeddedZooKeeper server, Recipe recipe, Duration session) throws InterruptedException {
        Contenders contenders = new Contenders(server, recipe, session);
        contenders.awaitConnected();
        return contenders;
    }

    /** Opens contenders whose client sends nothing during a test except what the test makes it send. */
    static Contenders openQuiet(EmbeddedZooKeeper server, Recipe recipe) throws InterruptedException {
        return open(server, recipe, WITHOUT_CHECKS);
    }

    private static ZooKeeperClient connect(String connectString, Duration session) {
        return ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(session)
                // A try must get its answer, however slow the machine is.
                .requestTimeout(LIMIT)
                // A recipe may release something only a while after its last use. A short delay shortens that
                // while.
                .retryDelay(Duration.ofMillis(20), Duration.ofMillis(100))
                .build();
    }

    void awaitConnected() throws InterruptedException {
        awaitConnected(client);
        awaitConnected(rivals);
    }

    private static void awaitConnected(ZooKeeperClient client) throws InterruptedException {
        Duration limit = MachineLoad.stretched(LIMIT);
        assertThat(client.awaitConnected(limit))
                .as("connected within %s; the client is %s", limit, client.connectionState())
                .isTrue();
    }

    /**
     * Whether the client under test is connected, nothing is left of its earlier requests, and the rivals' client has
     * no nodes.
     */
    boolean isClean() throws InterruptedException {
        return client.connectionState() == ConnectionState.CONNECTED
                && watches() == 0
                && Remains.of(client).isEmpty()
                && server.ephemerals(rivalsSession()).isEmpty();
    }

    /**
     * Returns the number of watches on the server, except for those on the paths of locks. A client cannot remove the
     * server's side of a watch on a node that still exists, and a lock may leave one such watch for each session.
     */
    int watches() {
        int kept = server.children(Scene.PARENT).stream()
                .flatMap(name -> recipe.queues().stream().map(queue -> Scene.PARENT + "/" + name + queue))
                .mapToInt(lock -> server.watchers(lock).size())
                .sum();
        return server.watchCount() - kept;
    }

    /** Waits until the client under test has a session other than this one. */
    void awaitSessionAfter(long lost) throws InterruptedException {
        await().until(() -> session() != 0 && session() != lost);
        awaitConnected();
    }

    /** Cuts the client under test off, until the proxy accepts connections again. */
    void disconnect() {
        proxy.refuse();
        await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
    }

    /** Returns the id of the session of the client under test; 0 while there is none. */
    long session() {
        return client.zooKeeper().orElseThrow().getSessionId();
    }

    /** Ends the session of the client under test at the server. */
    void expire() {
        assertThat(server.expireSession(session()))
                .as("the server had the session 0x%x; the client is %s", session(), client.connectionState())
                .isTrue();
    }

    /** Returns the id of the session of the rivals' client. */
    long rivalsSession() {
        return rivals.zooKeeper().orElseThrow().getSessionId();
    }

    @Override
    public void close() {
        client.close();
        rivals.close();
        proxy.close();
    }
}
