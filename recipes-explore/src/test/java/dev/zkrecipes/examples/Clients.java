// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static dev.zkrecipes.test.internal.Soon.await;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;

/** The clients of a test, each with its own session, which outlives every wait. Closing also ends the sessions. */
final class Clients implements AutoCloseable {
    private final EmbeddedZooKeeper server;
    private final TestClients open;

    private Clients(EmbeddedZooKeeper server) {
        this.server = server;
        this.open = TestClients.of(server, TestClients.LONG_SESSION);
    }

    static Clients connect(EmbeddedZooKeeper server, int count) throws InterruptedException {
        Clients clients = new Clients(server);
        for (int i = 0; i < count; i++) {
            clients.open.open();
        }
        return clients;
    }

    ZooKeeperClient get(int index) {
        return open.get(index);
    }

    @Override
    public void close() {
        open.close();
        await().until(() -> server.sessions().isEmpty());
    }
}
