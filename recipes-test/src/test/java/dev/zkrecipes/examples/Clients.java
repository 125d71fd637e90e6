// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The clients of a test, each with a session of its own that outlives every wait. Closing ends the sessions, too. */
final class Clients implements AutoCloseable {
    private final EmbeddedZooKeeper server;
    private final List<ZooKeeperClient> open = new ArrayList<>();

    private Clients(EmbeddedZooKeeper server) {
        this.server = server;
    }

    static Clients connect(EmbeddedZooKeeper server, int count) throws InterruptedException {
        Clients clients = new Clients(server);
        for (int i = 0; i < count; i++) {
            ZooKeeperClient client = ZooKeeperClient.builder()
                    .connectString(server.connectString())
                    .sessionTimeout(Duration.ofSeconds(60))
                    .build();
            clients.open.add(client);
            assertThat(client.awaitConnected(Duration.ofSeconds(20))).isTrue();
        }
        return clients;
    }

    ZooKeeperClient get(int index) {
        return open.get(index);
    }

    @Override
    public void close() {
        open.forEach(ZooKeeperClient::close);
        await().until(() -> server.sessions().isEmpty());
    }
}
