// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** Release without waiting, on a real server: what the same process may rely on, and what another one sees. */
@WithZooKeeper
@Timeout(600)
class ReleaseInBackgroundIT {
    private static final LockOptions BACKGROUND = LockOptions.defaults().withReleaseInBackground();

    private final EmbeddedZooKeeper server;
    private final String path;

    ReleaseInBackgroundIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/background/" + test.getTestMethod().orElseThrow().getName();
    }

    @Test
    void unheardClose_returns_andTheNextAcquireFollowsTheDeletion() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient client = TestClients.connect(proxy.connectString(), TestClients.LONG_SESSION);
                ZooKeeperClient other = TestClients.connect(server.connectString(), TestClients.LONG_SESSION)) {
            InterProcessMutex mutex = new InterProcessMutex(client, path, BACKGROUND);
            Lease first = mutex.acquire();
            long token = first.fencingToken();
            proxy.pauseRequests();
            first.close();
            assertThat(first.state()).isEqualTo(LeaseState.RELEASED);
            assertThat(mutex.isAcquiredInThisProcess()).isFalse();
            // Another process still sees the lock held: it is, by all that the server knows.
            assertThat(server.children(path)).hasSize(1);
            assertThat(new InterProcessMutex(other, path).tryAcquire()).isEmpty();

            CompletableFuture<Lease> next = mutex.acquireAsync();
            proxy.resume();
            try (Lease second = next.get(120, TimeUnit.SECONDS)) {
                assertThat(second.fencingToken()).isGreaterThan(token);
                assertThat(server.children(path)).hasSize(1);
            }
            await().until(() -> server.children(path).isEmpty());
        }
    }

    @Test
    void waiterOfAnotherProcess_isGranted() throws Exception {
        try (ZooKeeperClient client = TestClients.connect(server.connectString(), TestClients.LONG_SESSION);
                ZooKeeperClient other = TestClients.connect(server.connectString(), TestClients.LONG_SESSION)) {
            Lease held = new InterProcessMutex(client, path, BACKGROUND).acquire();
            CompletableFuture<Lease> waiting = new InterProcessMutex(other, path).acquireAsync();
            await().until(() -> server.children(path).size() == 2);
            held.close();
            waiting.get(120, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void closingTheClientOfAWrappedHandle_waitsForTheDeletion() throws Exception {
        ZooKeeper handle = new ZooKeeper(server.connectString(), 60_000, event -> {});
        try {
            ZooKeeperClient client = ZooKeeperClient.wrap(handle);
            new InterProcessMutex(client, path, BACKGROUND).acquire().close();
            client.close();
            assertThat(server.children(path)).isEmpty();
        } finally {
            handle.close();
        }
    }
}
