// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Workers;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** The setting of suites about who holds together: two clients, on a separate path for each test. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper(tickTimeMillis = 100)
abstract class TwoClients {
    final String path = "/contract/" + UUID.randomUUID();
    EmbeddedZooKeeper server;
    ZooKeeperClient client;
    ZooKeeperClient other;
    Workers workers;

    TwoClients() {}

    @BeforeEach
    void connect(EmbeddedZooKeeper started) throws InterruptedException {
        server = started;
        client = connected();
        other = connected();
        workers = new Workers();
    }

    private ZooKeeperClient connected() throws InterruptedException {
        return TestClients.connect(server.connectString(), TestClients.LONG_SESSION);
    }

    @AfterEach
    void disconnect() {
        workers.close();
        client.close();
        other.close();
    }

    /** Waits until so many requests, held or waiting, stand below the path. */
    final void awaitNodes(int count) {
        await().untilAsserted(() -> assertThat(server.children(path)).hasSize(count));
    }

    /** The granted leases; a request that was not granted fails the test. */
    static Lease granted(Optional<Lease> lease, String what) {
        return lease.orElseThrow(() -> new AssertionError("not granted, or not in time: " + what));
    }

    /** Ends the session of {@link #client} as the server does. */
    final void expireClient() {
        long session = client.zooKeeper().orElseThrow().getSessionId();
        assertThat(server.expireSession(session)).isTrue();
    }
}
