// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * While a thread waits in a blocking call it runs nothing else. {@link CompletableFuture#get()} does: the asynchronous tasks
 * that the thread has given to the common pool, in the middle of whatever the thread is doing.
 */
@Tag("H118")
class ForkJoinIT extends ServerStage {
    private static final int TASKS = 3;
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
