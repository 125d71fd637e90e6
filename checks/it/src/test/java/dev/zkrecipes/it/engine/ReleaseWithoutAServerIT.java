// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Lateness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** P9: a release without a server returns, and is made up for when the server is back. */
@WithZooKeeper(tickTimeMillis = 200)
@Timeout(600)
class ReleaseWithoutAServerIT {
    private static final Duration SESSION = Duration.ofSeconds(12);
    private static final Duration AT_ONCE = Duration.ofMillis(500);

    private final EmbeddedZooKeeper server;
    private final String path;

    ReleaseWithoutAServerIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/release-without/" + test.getTestMethod().orElseThrow().getName();
    }

    private static ZooKeeperClient client(String connectString) throws InterruptedException {
        return TestClients.connect(connectString, SESSION);
    }

    @Test
    @Tag("H46")
    void releaseWithoutAServer_returnsAtOnce_andIsCompletedLater() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            InterProcessMutex first = new InterProcessMutex(client, path + "/closed");
            InterProcessMutex second = new InterProcessMutex(client, path + "/released");
            InterProcessMutex third = new InterProcessMutex(client, path + "/later");
            Lease closed = first.acquire();
            Lease released = second.acquire();
            Lease later = third.acquire();
            long session = client.zooKeeper().orElseThrow().getSessionId();
            server.stop();
            await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);

            assertThat(Lateness.without(closed::close)).isLessThan(AT_ONCE);
            assertThat(Lateness.without(closed::close)).isLessThan(AT_ONCE);
            assertThatThrownBy(first::release).isInstanceOf(IllegalMonitorStateException.class);
            assertThat(Lateness.without(second::release)).isLessThan(AT_ONCE);
            assertThatThrownBy(second::release).isInstanceOf(IllegalMonitorStateException.class);
            released.close();
            List<CompletableFuture<Void>> ends =
                    List.of(closed.closeAsync(), released.closeAsync(), later.closeAsync(), later.closeAsync());
            assertThat(List.of(closed.state(), released.state(), later.state())).containsOnly(LeaseState.RELEASED);
            assertThat(ends).noneMatch(CompletableFuture::isDone);

            server.restart();
            for (CompletableFuture<Void> end : ends) {
                end.get(120, TimeUnit.SECONDS);
            }
            for (InterProcessMutex mutex : List.of(first, second, third)) {
                assertThat(server.children(mutex.path())).as(mutex.path()).isEmpty();
                assertThat(mutex.isAcquiredInThisProcess()).isFalse();
            }
            assertThat(client.zooKeeper().orElseThrow().getSessionId())
                    .as("session")
                    .isEqualTo(session);
        }
    }

    @Test
    @Tag("H46")
    void releaseToASilentServer_endsWithTheRequestTimeout() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient client = ZooKeeperClient.builder()
                        .connectString(proxy.connectString())
                        .sessionTimeout(SESSION)
                        .requestTimeout(Duration.ofMillis(400))
                        .build()) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            Lease lease = mutex.acquire();
            proxy.pause();
            long start = System.nanoTime();
            assertThat(Lateness.without(lease::close)).isLessThan(Duration.ofMillis(900));
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(400));
            assertThat(server.children(path)).hasSize(1);
            assertThat(lease.closeAsync()).isNotDone();
            proxy.resume();
            lease.closeAsync().get(120, TimeUnit.SECONDS);
            assertThat(server.children(path)).isEmpty();
        }
    }

    @Test
    @Tag("H48")
    @Tag("alone")
    void thousandDeletesWithoutAServer_waitQuietlyAndAreDoneLater() throws Exception {
        int each = 500;
        try (ZooKeeperClient client = client(server.connectString())) {
            List<InterProcessMutex> locks = IntStream.range(0, each)
                    .mapToObj(i -> new InterProcessMutex(client, path + "/" + i))
                    .toList();
            List<Lease> leases = new ArrayList<>();
            for (CompletableFuture<Lease> holding :
                    locks.stream().map(InterProcessMutex::acquireAsync).toList()) {
                leases.add(holding.get(120, TimeUnit.SECONDS));
            }
            List<CompletableFuture<Lease>> waiting =
                    locks.stream().map(InterProcessMutex::acquireAsync).toList();
            await().until(() -> nodes(each) == 2 * each);
            server.stop();
            await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);

            List<CompletableFuture<Void>> ends =
                    leases.stream().map(Lease::closeAsync).toList();
            waiting.forEach(future -> future.cancel(false));
            Duration busyBefore = Meter.engineTime();
            await().pollDelay(Duration.ofSeconds(3)).until(() -> true);
            assertThat(Meter.engineTime().minus(busyBefore))
                    .as("processor time of the engine in 3 s without a server")
                    .isLessThan(Duration.ofMillis(300));
            assertThat(ends).noneMatch(CompletableFuture::isDone);

            server.restart();
            CompletableFuture.allOf(ends.toArray(new CompletableFuture<?>[0])).get(120, TimeUnit.SECONDS);
            await().until(() -> nodes(each) == 0);
        }
    }

    private int nodes(int paths) {
        int nodes = 0;
        for (int i = 0; i < paths; i++) {
            nodes += server.children(path + "/" + i).size();
        }
        return nodes;
    }
}
