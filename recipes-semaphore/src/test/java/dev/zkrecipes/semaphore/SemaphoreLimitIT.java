// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.Workers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** The limit: kept in ZooKeeper, the same for all, changed for all. */
@Timeout(600)
@WithZooKeeper(tickTimeMillis = 100)
class SemaphoreLimitIT {
    private final EmbeddedZooKeeper server;
    private final String path;
    private FaultProxy proxy;
    private ZooKeeperClient client;
    private ZooKeeperClient other;
    private InterProcessSemaphore semaphore;
    private InterProcessSemaphore others;

    SemaphoreLimitIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/limits-" + test.getTestMethod().orElseThrow().getName();
    }

    @BeforeEach
    void connect() throws InterruptedException {
        proxy = FaultProxy.to(server);
        client = connected(server.connectString());
        other = connected(proxy.connectString());
        semaphore = new InterProcessSemaphore(client, path, 4);
        others = new InterProcessSemaphore(other, path, 4);
    }

    private static ZooKeeperClient connected(String connectString) throws InterruptedException {
        return TestClients.connect(connectString, Duration.ofSeconds(20));
    }

    @AfterEach
    void close() {
        client.close();
        other.close();
        proxy.close();
    }

    private void awaitNodes(int count) {
        await().until(() -> server.children(path).size() == count);
    }

    private String data() {
        return new String(server.data(path).orElseThrow(), StandardCharsets.UTF_8);
    }

    @Test
    void firstUser_writesTheLimit_whichStays() throws Exception {
        semaphore.acquire(2).close();
        assertThat(data()).isEqualTo("zkrecipes 1\nconfigured=4\ncurrent=4\n");
        semaphore.resize(9);
        assertThat(data()).isEqualTo("zkrecipes 1\nconfigured=4\ncurrent=9\n");
        others.acquire(9).close();
        server.reapContainers();
        assertThat(others.maxLeases()).isEqualTo(9);
    }

    @Test
    @Tag("H84")
    void revokerAfterAResizeToFewer_asksAllHolders_andNoLaterRequest() throws Exception {
        semaphore.resize(3);
        List<Lease> held = List.of(semaphore.acquire(), semaphore.acquire(), semaphore.acquire());
        List<Lease> asked = new CopyOnWriteArrayList<>();
        held.forEach(lease -> lease.onRevocationRequested(request -> asked.add(lease)));
        semaphore.resize(1);
        CompletableFuture<Lease> later = others.acquireAsync();
        awaitNodes(4);

        assertThat(new Revoker(other).request(semaphore.permits(1))).hasSize(3);
        await().until(() -> asked.size() == 3);
        assertThat(asked).containsExactlyInAnyOrderElementsOf(held);

        held.forEach(Lease::close);
        try (Lease last = later.get(120, TimeUnit.SECONDS)) {
            Soon.await().until(last::isValid);
            assertThat(new Revoker(client).request(semaphore.permits(1))).hasSize(1);
        }
    }

    @Test
    void differentlyConfiguredProcess_isRefused_namingBothNumbers() throws Exception {
        semaphore.acquire().close();
        InterProcessSemaphore wrong = new InterProcessSemaphore(other, path, 5);
        for (ThrowingCallable call : List.<ThrowingCallable>of(
                wrong::acquire,
                wrong::tryAcquire,
                () -> wrong.tryAcquire(Duration.ofSeconds(20)),
                wrong::availablePermits,
                wrong::queueLength,
                wrong::maxLeases,
                wrong::participants,
                () -> wrong.resize(7))) {
            assertThatThrownBy(call)
                    .isInstanceOf(LockRefusedException.class)
                    .hasMessageContaining(path)
                    .hasMessageContaining("was made with 4 permits")
                    .hasMessageContaining("configured with 5");
        }
        awaitNodes(0);
        assertThat(semaphore.maxLeases()).isEqualTo(4);
    }

    @Test
    void pathWithOtherData_isRefused() {
        server.createNode(path + "-a", new byte[0], CreateMode.CONTAINER);
        assertThatThrownBy(() -> new InterProcessSemaphore(client, path + "-a", 4).acquire())
                .isInstanceOf(LockRefusedException.class)
                .hasMessageContaining(path + "-a has no data where a semaphore keeps its limit");
        server.createNode(path + "-b", "zkrecipes 1\nconfigured=04\ncurrent=4\n".getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(() -> new InterProcessSemaphore(client, path + "-b", 4).acquire())
                .isInstanceOf(LockRefusedException.class)
                .hasMessageContaining("bytes of other data where a semaphore keeps its limit");
    }

    @Test
    void leasesAboveTheNewLimit_countAsWaiting_andStayValid() throws Exception {
        Lease first = semaphore.acquire(2);
        Lease second = others.acquire(2);
        semaphore.resize(3);
        assertThat(semaphore.availablePermits()).isEqualTo(1);
        assertThat(semaphore.queueLength()).isEqualTo(1);
        assertThat(semaphore.tryAcquire()).isEmpty();
        second.verify();
        first.close();
        assertThat(semaphore.queueLength()).isZero();
        semaphore.acquire().close();
        second.close();
    }

    @Test
    void requestAboveTheConfiguredNumber_isGrantedOnceTheLimitAllowsIt() throws Exception {
        semaphore.resize(6); // also makes the semaphore
        others.acquire(6).close();
        assertThat(others.tryAcquire(6)).isPresent().get().satisfies(Lease::close);
        Lease held = semaphore.acquire(1);
        CompletableFuture<Lease> waiting = others.acquireAsync(6);
        awaitNodes(2);
        held.close();
        waiting.get(120, TimeUnit.SECONDS).close();
    }

    @Test
    void resizeBetweenAWaitersListAndItsWatch_isNotMissed() throws Exception {
        Lease held = semaphore.acquire(4);
        Held list = proxy.holdReply(RequestType.MULTI_READ, 1);
        CompletableFuture<Lease> waiting = others.acquireAsync(2);
        list.awaitReached(Duration.ofSeconds(20));
        semaphore.resize(6);
        list.release();
        waiting.get(120, TimeUnit.SECONDS).close();
        held.close();
    }

    @Test
    void resizeThatTheListOfALaterRequestShowsFirst_isNotMissed() throws Exception {
        Lease held = semaphore.acquire(4);
        CompletableFuture<Lease> first = others.acquireAsync();
        await().until(() -> !server.watchers(path).isEmpty());
        Held create = proxy.holdRequest(RequestType.CREATE2, 1);
        CompletableFuture<Lease> second = others.acquireAsync();
        create.awaitReached(Duration.ofSeconds(20));
        semaphore.resize(5);
        create.release();
        first.get(120, TimeUnit.SECONDS).close();
        second.get(120, TimeUnit.SECONDS).close();
        held.close();
    }

    @Test
    void resizersAtTheSameTime_bothSucceed() throws Exception {
        semaphore.acquire().close();
        try (Workers workers = new Workers()) {
            workers.start("one", () -> {
                for (int i = 1; i <= 50; i++) {
                    semaphore.resize(i);
                }
            });
            workers.start("another", () -> {
                for (int i = 101; i <= 150; i++) {
                    others.resize(i);
                }
            });
            workers.join(Duration.ofSeconds(30));
        }
        assertThat(semaphore.maxLeases()).isIn(50, 150);
    }

    @Test
    void semaphoreDeletedWhileItIsFree_isRecreated() throws Exception {
        semaphore.acquire().close();
        semaphore.resize(2);
        server.deleteNode(path);
        assertThat(others.maxLeases()).isEqualTo(4);
        others.acquire(4).close();
        assertThat(data()).contains("current=4");
    }
}
