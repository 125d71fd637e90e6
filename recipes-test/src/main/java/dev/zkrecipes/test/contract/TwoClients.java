// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.TestClients;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;

/** The setting of suites that test who may hold together: two clients, with a separate path for each test. */
abstract class TwoClients<T> extends Stage {
    String path;
    ZooKeeperClient client;
    T own;
    T others;

    /** Creates the object under test. */
    abstract T make(ZooKeeperClient with, String on);

    @Override
    Duration sessionTimeout() {
        return TestClients.LONG_SESSION;
    }

    @BeforeEach
    void begin() {
        path = scene.path;
        client = contenders.client;
        own = make(client, path);
        others = make(contenders.rivals, path);
    }

    /** Waits until this number of requests, holding or waiting, have nodes below the path. */
    final void awaitNodes(int count) {
        await().untilAsserted(() -> assertThat(server.children(path)).hasSize(count));
    }

    /** Returns the lease of a request. Fails the test if the request was not granted. */
    static Lease granted(Optional<Lease> lease, String what) {
        return lease.orElseThrow(() -> new AssertionError("not granted, or not in time: " + what));
    }

    /** Ends the session of {@link #client} at the server. */
    final void expireClient() {
        contenders.expire();
    }
}
