// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * While a thread waits in a blocking call it runs nothing else. {@link CompletableFuture#get()} does: the asynchronous tasks
 * that the thread has given to the common pool, in the middle of whatever the thread is doing.
 */
@WithZooKeeper
@Timeout(600)
@Tag("H118")
class ForkJoinIT {
    private static final int TASKS = 3;

    private final String path = "/fork-join-" + UUID.randomUUID();
    private final TestClients clients;
    private final CountDownLatch over = new CountDownLatch(1);
    private ZooKeeperClient client;
    private ZooKeeperClient other;

    ForkJoinIT(EmbeddedZooKeeper server) {
        clients = TestClients.of(server, TestClients.LONG_SESSION);
    }

    @BeforeEach
    void open() throws InterruptedException {
        // The JVM of the test is given three: with fewer, CompletableFuture may not use the common pool at all.
        assertThat(ForkJoinPool.getCommonPoolParallelism()).isEqualTo(3);
        client = clients.open();
        other = clients.open();
    }

    @AfterEach
    void close() {
        over.countDown();
        clients.close();
    }

    // ---- What a caller does.

    private interface Call<T> {
        T run() throws Exception;
    }

    private interface Script {
        void run(Calls calls) throws Exception;
    }

    /** Blocking calls of one thread, before each of which it gives tasks to the common pool. */
    private static final class Calls {
        private final ConcurrentLinkedQueue<Thread> ran = new ConcurrentLinkedQueue<>();
        private final List<String> faults = new ArrayList<>();

        <T> T call(String name, Call<T> call) throws Exception {
            ran.clear();
            for (int i = 0; i < TASKS; i++) {
                var unused = CompletableFuture.runAsync(() -> ran.add(Thread.currentThread()));
            }
            T result = call.run();
            if (ran.contains(Thread.currentThread())) {
                faults.add(name);
            }
            return result;
        }

        void close(String name, Lease lease) throws Exception {
            call(name, () -> {
                lease.close();
                return null;
            });
        }
    }

    /**
     * Runs the script on a worker of the common pool while all others are busy, so that this one alone could run the tasks
     * that it gives to the pool.
     */
    private void run(Script script) {
        int busy = ForkJoinPool.getCommonPoolParallelism() - 1;
        CountDownLatch begun = new CountDownLatch(busy);
        for (int i = 0; i < busy; i++) {
            ForkJoinPool.commonPool().execute(() -> {
                begun.countDown();
                awaitUninterrupted(over);
            });
        }
        awaitUninterrupted(begun);
        CompletableFuture<List<String>> faults = new CompletableFuture<>();
        ForkJoinPool.commonPool().execute(() -> {
            try {
                Calls calls = new Calls();
                script.run(calls);
                faults.complete(calls.faults);
            } catch (Throwable t) {
                faults.completeExceptionally(t);
            }
        });
        assertThat(Soon.get(faults)).as("calls that ran other tasks").isEmpty();
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static Lease heldBy(InterProcessLock lock) {
        return Soon.get(lock.acquireAsync());
    }

    /** Closes the lease, on a thread of its own, when somebody queues behind it. */
    private static Thread closeForTheNext(InterProcessLock lock, Lease lease) {
        Thread closer = new Thread(
                () -> {
                    Soon.await().until(() -> lock.participants().size() == 2);
                    lease.close();
                },
                "closer");
        closer.start();
        return closer;
    }

    // ---- The calls.

    @Test
    void callsOnAFreeLock() {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        Lock juc = new InterProcessMutex(client, path + "/juc").asLock();
        run(calls -> {
            Lease lease = calls.call("acquire", mutex::acquire);
            calls.call("verify", () -> {
                lease.verify();
                return null;
            });
            calls.call("participants", mutex::participants);
            calls.call("release", () -> {
                mutex.release();
                return null;
            });
            calls.close("try", calls.call("try", mutex::tryAcquire).orElseThrow());
            calls.close(
                    "timed",
                    calls.call("timed", () -> mutex.tryAcquire(Duration.ofSeconds(20)))
                            .orElseThrow());
            calls.call("lock", () -> {
                juc.lock();
                return null;
            });
            calls.call("unlock", () -> {
                juc.unlock();
                return null;
            });
            calls.call("client", () -> {
                client.close();
                return null;
            });
        });
    }

    @Test
    void callsOnABusyLock() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        InterProcessMutex others = new InterProcessMutex(other, path);
        Lease held = heldBy(others);
        List<Thread> closers = new ArrayList<>();
        run(calls -> {
            assertThat(calls.<Optional<Lease>>call("try", mutex::tryAcquire)).isEmpty();
            assertThat(calls.<Optional<Lease>>call("timed", () -> mutex.tryAcquire(Duration.ofMillis(300))))
                    .isEmpty();
            closers.add(closeForTheNext(others, held));
            calls.close("close", calls.call("acquire", mutex::acquire));
        });
        closers.get(0).join();
    }

    @Test
    void passingOnInsideTheProcess() throws Exception {
        HandoffMutex mutex = new HandoffMutex(client, path, 10);
        Lease held = heldBy(mutex);
        CompletableFuture<Lease> next = mutex.acquireAsync();
        run(calls -> {
            calls.close("close of the first", held);
            Thread closer = new Thread(() -> Soon.get(next).close());
            closer.start();
            calls.close("close", calls.call("acquire", mutex::acquire));
            closer.join();
        });
    }

    @Test
    void otherRecipes() {
        InterProcessReadWriteLock readWrite = new InterProcessReadWriteLock(client, path + "/rw");
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, path + "/semaphore", 5);
        InterProcessLock multi = new InterProcessMultiLock(client, List.of(path + "/a", path + "/b"));
        InterProcessLock mixed = new InterProcessMultiLock(
                List.of(new InterProcessMutex(client, path + "/c"), new InterProcessMutex(other, path + "/d")));
        run(calls -> {
            Lease write = calls.call("write", readWrite.writeLock()::acquire);
            Lease read = calls.call("downgrade", readWrite.readLock()::acquire);
            calls.close("write", write);
            calls.close("read", read);
            calls.close("permits", calls.call("permits", () -> semaphore.acquire(2)));
            calls.call("limit", semaphore::maxLeases);
            calls.call("resize", () -> {
                semaphore.resize(3);
                return null;
            });
            calls.close("multi-lock", calls.call("multi-lock", multi::acquire));
            calls.close("lock of two clients", calls.call("lock of two clients", mixed::acquire));
            heldBy(new InterProcessMutex(client, path + "/d"));
            assertThat(calls.<Optional<Lease>>call(
                            "timed lock of two clients", () -> mixed.tryAcquire(Duration.ofMillis(300))))
                    .isEmpty();
        });
    }

    @Test
    void askingBack() {
        InterProcessMutex mutex = new InterProcessMutex(other, path);
        Lease held = heldBy(mutex);
        run(calls -> {
            var asked = calls.call("request", () -> new Revoker(client).request(mutex));
            assertThat(calls.<Optional<RevocationOutcome>>call(
                            "wait", () -> asked.get(0).await(Duration.ofMillis(100))))
                    .isEmpty();
            held.onRevocationRequested(request -> held.close());
            assertThat(calls.<Optional<RevocationOutcome>>call(
                            "wait", () -> asked.get(0).await(Duration.ofSeconds(20))))
                    .contains(RevocationOutcome.GIVEN_BACK);
        });
    }

    // ---- What came of it.

    @Test
    void taskOfTheHolder_neverEntersTheHoldersCriticalSection() {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        AtomicInteger inside = new AtomicInteger();
        Supplier<Integer> cycle = () -> {
            try (Lease lease = mutex.acquire()) {
                int together = inside.incrementAndGet();
                lease.verify();
                inside.decrementAndGet();
                return together;
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
        CompletableFuture<List<CompletableFuture<Integer>>> forked =
                CompletableFuture.supplyAsync(() -> Stream.generate(() -> CompletableFuture.supplyAsync(cycle))
                        .limit(30)
                        .toList());
        assertThat(Soon.get(forked).stream().map(Soon::get)).containsOnly(1);
    }
}
