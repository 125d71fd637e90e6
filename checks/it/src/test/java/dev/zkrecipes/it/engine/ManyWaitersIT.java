// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What many waiters cost their own process: in proportion to nodes, not multiplied by lock objects, limits or threads.
 * Memory is what is left after a collection. Work is counted in allocated bytes, which do not depend on the machine, or in
 * processor time of the engine, with a wide bound.
 */
@Tag("soak")
@Timeout(600)
@WithZooKeeper
class ManyWaitersIT {
    private final EmbeddedZooKeeper server;

    ManyWaitersIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    private ZooKeeperClient connect(Duration timeout) throws InterruptedException {
        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(timeout)
                .build();
        assertThat(client.awaitConnected(Duration.ofSeconds(120))).isTrue();
        return client;
    }

    /** Waits until all are in the queue and, for a second, nothing is sent and the processor is idle. */
    private void awaitSettled(String path, int nodes) {
        Meter[] second = {new Meter(server)};
        await().pollInterval(Duration.ofSeconds(1))
                .atMost(Duration.ofSeconds(120))
                .until(() -> {
                    boolean quiet = second[0].isQuiet() && server.children(path).size() == nodes;
                    second[0] = new Meter(server);
                    return quiet;
                });
    }

    @Test
    @Tag("H77")
    void waitersThroughSeparateObjects_costNoMoreThanThroughOne() throws Exception {
        try (ZooKeeperClient client = connect(Duration.ofSeconds(60))) {
            InterProcessLock one = new InterProcessMutex(client, "/one");
            queueAndLeave("/one", 2000, () -> one); // loads classes
            long throughOne = queueAndLeave("/one", 2000, () -> one);
            long throughMany = queueAndLeave("/many", 2000, () -> new InterProcessMutex(client, "/many"));
            assertThat(throughMany)
                    .as("bytes; through one object %d", throughOne)
                    .isLessThan(3 * throughOne);
        }
    }

    /**
     * What the threads of this JVM allocate while that many requests enter the queue. The locks are made before: a
     * request that comes when the engine has nothing else to do takes a list of its own, and the list is what costs.
     */
    private long queueAndLeave(String path, int count, Supplier<InterProcessLock> lock) throws Exception {
        List<InterProcessLock> locks = Stream.generate(lock).limit(count).toList();
        Lease held = lock.get().acquireAsync().get(120, TimeUnit.SECONDS);
        long before = Meter.allocatedBytes();
        List<CompletableFuture<Lease>> waiting =
                locks.stream().map(InterProcessLock::acquireAsync).toList();
        awaitSettled(path, count + 1);
        long spent = Meter.allocatedBytes() - before;
        waiting.forEach(future -> future.cancel(false));
        held.close();
        await().atMost(Duration.ofSeconds(120))
                .until(() -> server.children(path).isEmpty());
        return spent;
    }

    @Test
    @Tag("H80")
    void semaphoreWaiters_takeMemoryPerNode_notPerPermit() throws Exception {
        int limit = 300;
        int waiters = 1000;
        try (ZooKeeperClient client = connect(Duration.ofSeconds(60))) {
            InterProcessSemaphore semaphore = new InterProcessSemaphore(client, "/semaphore", limit);
            long before = Meter.liveHeap();
            List<CompletableFuture<Lease>> wanted = new ArrayList<>();
            for (int i = 0; i < limit + waiters; i++) {
                wanted.add(semaphore.acquireAsync());
            }
            // Not the first ones that asked: a new path is made meanwhile.
            await().atMost(Duration.ofSeconds(120))
                    .untilAsserted(() -> assertThat(wanted.stream().filter(CompletableFuture::isDone))
                            .hasSize(limit));
            awaitSettledBesideChecks("/semaphore", limit + waiters);
            long bytesEach = (Meter.liveHeap() - before) / (limit + waiters);
            assertThat(bytesEach).isLessThan(16_384); // 5 kB of each is the server's and the futures'
        }
    }

    private void awaitSettledBesideChecks(String path, int nodes) {
        long[] last = {Meter.processorNanos()};
        await().pollInterval(Duration.ofSeconds(2))
                .atMost(Duration.ofSeconds(120))
                .until(() -> {
                    long now = Meter.processorNanos();
                    boolean idle = now - last[0] < 400_000_000L;
                    last[0] = now;
                    return idle && server.children(path).size() == nodes;
                });
    }

    /** A short session would end rightly on a machine with much else to do; the processor time is what the waiters cost. */
    @Test
    @Tag("H78")
    void lease_staysValidBesideManyWaitersAndHoldingThreads() throws Exception {
        int threads = 2000;
        int waiters = 4000;
        Duration timeout = Duration.ofSeconds(20);
        CountDownLatch holding = new CountDownLatch(threads);
        CountDownLatch enough = new CountDownLatch(1);
        try (ZooKeeperClient client = connect(timeout);
                Workers workers = new Workers()) {
            for (int i = 0; i < threads; i++) {
                InterProcessLock own = new InterProcessMutex(client, "/own/" + i);
                workers.start("holder-" + i, () -> {
                    try (Lease lease = own.acquire()) {
                        holding.countDown();
                        enough.await();
                    }
                });
            }
            assertThat(holding.await(120, TimeUnit.SECONDS)).isTrue();
            Lease other = new InterProcessMutex(client, "/other").acquireAsync().get(120, TimeUnit.SECONDS);
            Lease held = new InterProcessMutex(client, "/busy").acquireAsync().get(120, TimeUnit.SECONDS);
            InterProcessLock lock = new InterProcessMutex(client, "/busy");
            List<CompletableFuture<Lease>> waiting =
                    Stream.generate(lock::acquireAsync).limit(waiters).toList();
            awaitSettledBesideChecks("/busy", waiters + 1);
            Duration busyBefore = Meter.engineTime();
            // Longer than the lease would be valid by what is known at the beginning.
            await().pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(20))
                    .during(timeout)
                    .atMost(timeout.plusSeconds(10))
                    .failFast("the lease is not valid", () -> !other.isValid())
                    .until(() -> true);
            assertThat(Meter.engineTime().minus(busyBefore))
                    .as("processor time of the engine in %s", timeout)
                    .isLessThan(Duration.ofSeconds(1));
            waiting.forEach(future -> future.cancel(false));
            var unused = held.closeAsync();
            enough.countDown();
        }
    }
}
