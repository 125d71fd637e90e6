// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** P5, P9 at the end of a client: every future completes, and no node stays that blocks others. */
@Timeout(600)
@WithZooKeeper(tickTimeMillis = 200)
class ClientShutdownIT {
    private static final Duration SESSION = Duration.ofSeconds(6);

    private final EmbeddedZooKeeper server;
    private final String path;

    ClientShutdownIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/shutdown/" + test.getTestMethod().orElseThrow().getName();
    }

    private static ZooKeeperClient client(String connectString) throws InterruptedException {
        return TestClients.connect(connectString, SESSION);
    }

    private static Lease acquire(ZooKeeperClient client, String lock) throws Exception {
        return new InterProcessMutex(client, lock).acquireAsync().get(120, TimeUnit.SECONDS);
    }

    @Test
    @Tag("H46")
    void releaseWithoutAConnection_endsWithTheClient() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient client = client(proxy.connectString())) {
            Lease lease = acquire(client, path);
            proxy.refuse();
            await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
            CompletableFuture<Void> released = lease.closeAsync();
            assertThat(released).isNotDone();
            client.close();
            released.get(120, TimeUnit.SECONDS);
        }
    }

    @Test
    @Tag("H46")
    void releasesBeyondTheWindow_endWithTheClient() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            List<Lease> leases = IntStream.range(0, 300)
                    .mapToObj(i -> new InterProcessMutex(client, path + "/" + i).acquireAsync())
                    .map(CompletableFuture::join)
                    .toList();
            List<CompletableFuture<Void>> released =
                    leases.stream().map(Lease::closeAsync).toList();
            client.close();
            CompletableFuture.allOf(released.toArray(CompletableFuture<?>[]::new))
                    .get(120, TimeUnit.SECONDS);
        }
    }

    @Test
    @Tag("H59")
    void nodeOfASessionGivenUpByTheClient_isDeletedBeforeTheClientEnds() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient client = TestClients.connect(proxy.connectString(), TestClients.LONG_SESSION);
                ZooKeeperClient other = TestClients.connect(server.connectString(), TestClients.LONG_SESSION)) {
            Lease lease = acquire(client, path);
            long oldSession = client.zooKeeper().orElseThrow().getSessionId();
            proxy.latency(
                    Duration.ofMillis(20)); // so that the next session is not connected yet when the client closes
            client.zooKeeper().orElseThrow().getTestable().injectSessionExpiration();
            CompletableFuture<Void> lost = new CompletableFuture<>();
            lease.onLost(() -> lost.complete(null));
            lost.get(120, TimeUnit.SECONDS);
            client.close();

            assertThat(server.sessions()).contains(oldSession);
            assertThat(new InterProcessMutex(other, path).tryAcquire()).isPresent();
        }
    }
}
