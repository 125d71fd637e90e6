// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.LeakCheck;
import dev.zkrecipes.test.internal.Seed;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.Workers;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** P5: after any ending of an acquire no node, no watch and no thread is left, and the lock is free. */
@WithZooKeeper(tickTimeMillis = 200)
@Timeout(600)
class MutexLeakIT {
    private static final Duration SESSION = Duration.ofSeconds(30);

    private final EmbeddedZooKeeper server;
    private final String path;

    MutexLeakIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/leak/" + test.getTestMethod().orElseThrow().getName();
    }

    private ZooKeeperClient client() throws InterruptedException {
        return TestClients.connect(server.connectString(), SESSION);
    }

    private void assertNothingIsLeft() {
        await().alias("an empty queue")
                .untilAsserted(() -> assertThat(server.children(path)).isEmpty());
        assertThat(server.watchCount()).as("watches at the server").isZero();
    }

    private static void assertFree(InterProcessLock lock) {
        lock.tryAcquire().orElseThrow().close();
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
        assertThat(lock.holdCount()).isZero();
    }

    @Test
    @Tag("H40")
    @Tag("H41")
    @Tag("soak")
    void interruptsAtRandomTimes_leaveNothing() throws Exception {
        Seed seed = Seed.forTest("interruptsAtRandomTimes");
        int rounds = 375;
        AtomicInteger interrupted = new AtomicInteger();
        AtomicInteger granted = new AtomicInteger();
        AtomicInteger holders = new AtomicInteger();
        try (ZooKeeperClient warmUp = client()) {
            // In a cold JVM every request would be interrupted before its answer.
            InterProcessMutex mutex = new InterProcessMutex(warmUp, path);
            for (int i = 0; i < 500; i++) {
                mutex.acquire().close();
            }
        }
        LeakCheck threads = LeakCheck.start().ignoring("NIOWorkerThread-");
        try (ZooKeeperClient one = client();
                ZooKeeperClient two = client()) {
            // Two threads on one instance, one on another of the same client, one on another client's.
            InterProcessMutex shared = new InterProcessMutex(one, path);
            List<InterProcessMutex> locks =
                    List.of(shared, shared, new InterProcessMutex(one, path), new InterProcessMutex(two, path));
            ScheduledExecutorService interrupter = Executors.newSingleThreadScheduledExecutor();
            try (Workers workers = new Workers()) {
                for (int i = 0; i < locks.size(); i++) {
                    InterProcessMutex lock = locks.get(i);
                    Random random = seed.random(i);
                    workers.start("interrupted " + i, () -> {
                        for (int round = 0; round < rounds || granted.get() <= 5; round++) {
                            Thread self = Thread.currentThread();
                            // On a slow machine some more rounds, with more time for each.
                            int patience = 8_000 << Math.max(0, (round - rounds) / 10);
                            Future<?> interruption = interrupter.schedule(
                                    self::interrupt,
                                    random.nextInt(random.nextInt(8) == 0 ? 5 * patience : patience),
                                    TimeUnit.MICROSECONDS);
                            try (Lease lease = random.nextBoolean()
                                    ? lock.acquire()
                                    : lock.tryAcquire(Duration.ofSeconds(20)).orElseThrow()) {
                                assertThat(holders.incrementAndGet()).isEqualTo(1);
                                granted.incrementAndGet();
                                LockSupport.parkNanos(random.nextInt(500_000));
                                holders.decrementAndGet();
                            } catch (InterruptedException e) {
                                assertThat(self.isInterrupted())
                                        .as("flag beside the exception")
                                        .isFalse();
                                interrupted.incrementAndGet();
                            }
                            finish(interruption);
                        }
                    });
                }
                workers.join(Duration.ofSeconds(90));
            } finally {
                interrupter.shutdownNow();
            }
            assertNothingIsLeft();
            // Both endings did occur, however slow the machine.
            assertThat(interrupted).as("interrupted acquires").hasValueGreaterThan(50);
            assertThat(granted).as("granted acquires").hasValueGreaterThan(5);
            locks.forEach(MutexLeakIT::assertFree);
        }
        threads.assertNoNewThreads(Duration.ofSeconds(10));
    }

    /** Waits for this round's interrupt and clears it, so that it does not hit the next round. */
    private static void finish(Future<?> interruption) throws ExecutionException {
        while (true) {
            try {
                interruption.get();
                Thread.interrupted();
                return;
            } catch (InterruptedException e) {
                // It has just come: the next get returns at once.
            }
        }
    }

    @Test
    @Tag("H40")
    @Tag("H41")
    void endingsOfAsyncAcquiresAtRandomTimes_leaveNothing() throws Exception {
        Seed seed = Seed.forTest("endingsOfAsyncAcquiresAtRandomTimes");
        int acquires = 1500;
        AtomicInteger left = new AtomicInteger();
        AtomicInteger failed = new AtomicInteger();
        ScheduledExecutorService leaver = Executors.newSingleThreadScheduledExecutor();
        try (ZooKeeperClient client = client()) {
            // Both queue on one path; one of them has a driver that fails occasionally.
            InterProcessMutex sound = new InterProcessMutex(client, path);
            Random luck = seed.random(0);
            InterProcessLock flaky = new LockInternals(
                            client,
                            path,
                            new StubDriver((predecessors, self) -> {
                                if (luck.nextInt(20) == 0) {
                                    throw new IllegalStateException("out of luck");
                                }
                                return new MutexDriver().decide(predecessors, self);
                            }),
                            LockOptions.defaults())
                    .threadOwned();
            Random random = seed.random(1);
            List<CompletableFuture<?>> ends = new ArrayList<>();
            List<Future<?>> leaving = new ArrayList<>();
            for (int i = 0; i < acquires; i++) {
                CompletableFuture<Lease> future = (random.nextBoolean() ? sound : flaky).acquireAsync();
                ends.add(future.thenCompose(Lease::closeAsync).handle((closed, failure) -> {
                    if (failure != null) {
                        (failure.getCause() instanceof LockRefusedException ? failed : left).incrementAndGet();
                    }
                    return failure == null;
                }));
                boolean cancels = random.nextBoolean();
                leaving.add(leaver.schedule(
                        () -> cancels ? future.cancel(true) : future.completeExceptionally(new IOException("enough")),
                        random.nextInt(40_000),
                        TimeUnit.MICROSECONDS));
                if (i % 5 == 0) {
                    LockSupport.parkNanos(random.nextInt(10_000_000));
                }
            }
            for (Future<?> leave : leaving) {
                leave.get(120, TimeUnit.SECONDS);
            }
            CompletableFuture.allOf(ends.toArray(new CompletableFuture<?>[0])).get(120, TimeUnit.SECONDS);
            while (failed.get() == 0) {
                // On a slow machine all have left before their driver was asked: now nobody leaves.
                flaky.acquireAsync()
                        .thenCompose(Lease::closeAsync)
                        .handle((closed, failure) -> failure == null ? 0 : failed.incrementAndGet())
                        .get(120, TimeUnit.SECONDS);
            }
            assertNothingIsLeft();
            assertThat(left).as("acquires that left the queue").hasValueGreaterThan(50);
            assertThat(failed).as("acquires whose driver failed").hasPositiveValue();
            assertFree(sound);
        } finally {
            leaver.shutdownNow();
        }
    }

    @Test
    @Tag("H43")
    void timeOutOfOneThread_leavesTheOthersWakeUpAlone() throws Exception {
        try (ZooKeeperClient holding = client();
                ZooKeeperClient client = client();
                Workers workers = new Workers()) {
            InterProcessMutex holder = new InterProcessMutex(holding, path);
            // Both threads wait for one and the same node.
            InterProcessLock shared = new LockInternals(
                            client,
                            path,
                            new StubDriver((predecessors, self) -> predecessors.isEmpty()
                                    ? Decision.granted()
                                    : Decision.waitFor(predecessors.get(0))),
                            LockOptions.defaults())
                    .threadOwned();
            for (boolean leaverIsFirst : new boolean[] {true, false}) {
                Duration limit = Duration.ofMillis(1500);
                while (!isLeftByOneOfTwo(workers, holder, shared, leaverIsFirst, limit)) {
                    limit = limit.multipliedBy(4);
                    assertThat(limit).isLessThan(Duration.ofMinutes(1));
                }
            }
            assertNothingIsLeft();
        }
    }

    /** One thread times out, the other stays. Whether both had waited at the same time. */
    private boolean isLeftByOneOfTwo(
            Workers workers, InterProcessMutex holder, InterProcessLock shared, boolean leaverIsFirst, Duration limit)
            throws InterruptedException {
        Lease held = holder.acquire();
        AtomicInteger most = new AtomicInteger();
        Thread leaver = null;
        if (leaverIsFirst) {
            leaver = leave(workers, shared, limit);
            awaitNodes(2, most, leaver);
        }
        Thread stayer = workers.start("stays", () -> shared.acquire().close());
        if (leaver == null) {
            awaitNodes(2, most, stayer);
            leaver = leave(workers, shared, limit);
        }
        awaitNodes(3, most, leaver);
        await().alias("one has left")
                .atMost(Duration.ofMinutes(1))
                .until(() -> server.children(path).size() == 2);
        assertThat(stayer.isAlive()).isTrue();
        held.close();
        workers.join(Duration.ofSeconds(20));
        return most.get() == 3;
    }

    /** Waits until there are so many nodes, or the thread has ended before. */
    private void awaitNodes(int count, AtomicInteger most, Thread thread) {
        await().until(() -> {
            boolean ended = !thread.isAlive();
            int nodes = server.children(path).size();
            most.accumulateAndGet(nodes, Math::max);
            return nodes == count || ended;
        });
    }

    private static Thread leave(Workers workers, InterProcessLock lock, Duration limit) {
        return workers.start("leaves", () -> {
            try {
                assertThat(lock.tryAcquire(limit)).isEmpty();
            } catch (LockConnectionException e) {
                assertThat(e).hasMessageContaining("not known whether"); // on a slow machine
            }
        });
    }

    @Test
    @Tag("H43")
    void releaseByOneThread_leavesTheOthersWakeUpAndListenersAlone() throws Exception {
        int threads = 6;
        AtomicInteger lost = new AtomicInteger();
        try (ZooKeeperClient client = client();
                Workers workers = new Workers()) {
            InterProcessMutex shared = new InterProcessMutex(client, path);
            for (int i = 0; i < threads; i++) {
                boolean reenters = i % 2 == 0;
                workers.start("in turn " + i, () -> {
                    for (int round = 0; round < 20; round++) {
                        Lease lease = shared.acquire();
                        lease.onLost(lost::incrementAndGet);
                        if (reenters) {
                            shared.acquire();
                            shared.release();
                        }
                        Soon.await().until(lease::isValid);
                        shared.release();
                    }
                });
            }
            workers.join(Duration.ofSeconds(20));
            assertNothingIsLeft();
            Lease last = shared.acquire();
            last.onLost(lost::incrementAndGet);
            server.expireSession(client.zooKeeper().orElseThrow().getSessionId());
            await().until(() -> lost.get() == 1);
            last.close();
        }
        assertThat(lost).as("losses: only the last holder's").hasValue(1);
    }

    @Test
    @Tag("H49")
    void constantlyReapedParents_failNoRequest() throws Exception {
        AtomicInteger cycles = new AtomicInteger();
        try (EmbeddedZooKeeper reaping = EmbeddedZooKeeper.builder()
                        .containerCheckInterval(Duration.ofMillis(10))
                        .start();
                Workers workers = new Workers()) {
            List<ZooKeeperClient> clients = new ArrayList<>();
            try {
                for (int i = 0; i < 8; i++) {
                    clients.add(ZooKeeperClient.connect(reaping.connectString()));
                    assertThat(clients.get(i).awaitConnected(Duration.ofSeconds(20)))
                            .isTrue();
                }
                long end = System.nanoTime() + Duration.ofSeconds(2).toNanos();
                BooleanSupplier enough = () -> System.nanoTime() - end > 0
                        && cycles.get() > 8
                        && reaping.requests().of(RequestType.CREATE_CONTAINER) > 16;
                for (int i = 0; i < 8; i++) {
                    // Two on each path, so that it is empty at times; the parent of the paths is reaped too.
                    InterProcessMutex mutex = new InterProcessMutex(clients.get(i), path + "/" + i / 2);
                    workers.start("client " + i, () -> {
                        while (!enough.getAsBoolean()) {
                            mutex.acquire().close();
                            mutex.tryAcquire(Duration.ofSeconds(20))
                                    .orElseThrow()
                                    .close();
                            mutex.tryAcquire().ifPresent(Lease::close);
                            cycles.incrementAndGet();
                        }
                    });
                }
                workers.start("reaper", () -> {
                    while (!enough.getAsBoolean()) {
                        reaping.reapContainers();
                        LockSupport.parkNanos(1_000_000);
                    }
                });
                workers.join(Duration.ofSeconds(60));
            } finally {
                clients.forEach(ZooKeeperClient::close);
            }
        }
    }
}
