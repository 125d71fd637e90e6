// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The process of {@link LittleMemoryIT}: threads take and give back, requests wait, and the memory is filled and freed
 * meanwhile. Then there is memory again, and it looks who still hangs. Ends with 0 if nobody does.
 */
final class LittleMemoryProcess {
    private static final int WAITERS = 300;
    private static final int THREADS = 4;
    private static final long LIMIT_SECONDS = 60;

    private static volatile boolean filling = true;

    private LittleMemoryProcess() {}

    /** Arguments: the connect string, and for how many milliseconds the memory is filled and freed. */
    public static void main(String[] args) throws Exception {
        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(args[0])
                .sessionTimeout(Duration.ofSeconds(3))
                .build();
        client.awaitConnected(Duration.ofSeconds(20));
        Lease held =
                new InterProcessMutex(client, "/little/held").acquireAsync().join();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            waiting.add(new InterProcessMutex(client, "/little/held").acquireAsync());
        }
        AtomicInteger cycles = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            InterProcessMutex mutex = new InterProcessMutex(client, "/little/" + i % 2);
            mutex.acquire().close();
            threads.add(new Thread(() -> takeAndGiveBack(mutex, cycles), "taker-" + i));
        }
        threads.forEach(Thread::start);
        fill(Long.parseLong(args[1]));
        filling = false;

        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(LIMIT_SECONDS));
            require(!thread.isAlive(), thread.getName() + " hangs");
        }
        boolean isOver = isOver(client);
        System.out.println((isOver ? "STOPPED" : "WORKS") + " after " + cycles);
        LeaseState state = held.state();
        require(!isOver || state == LeaseState.LOST, "stopped, and the lease is " + state);
        held.close();
        for (CompletableFuture<Lease> each : waiting) {
            Lease granted = outcome(each);
            if (granted != null) {
                granted.close();
            }
        }
        client.close();
        System.exit(0);
    }

    private static void takeAndGiveBack(InterProcessMutex mutex, AtomicInteger cycles) {
        while (filling) {
            try {
                mutex.acquire().close();
                cycles.incrementAndGet();
            } catch (ClientClosedException e) {
                return;
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            } catch (RuntimeException | Error e) {
                // Memory is what there is none of.
            }
        }
    }

    /** Again and again until nothing is left. */
    private static void fill(long millis) throws InterruptedException {
        byte[][] chunks = new byte[100_000][];
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (System.nanoTime() - end < 0) {
            int used = 0;
            for (int size = 1 << 20; size >= 1 << 8; size >>= 4) {
                try {
                    while (used < chunks.length) {
                        chunks[used] = new byte[size];
                        used++;
                    }
                } catch (OutOfMemoryError e) {
                    // The next ones are smaller.
                }
            }
            Thread.sleep(5);
            Arrays.fill(chunks, null);
            Thread.sleep(20);
        }
    }

    private static boolean isOver(ZooKeeperClient client) throws InterruptedException {
        try {
            Lease again = new InterProcessMutex(client, "/little/again")
                    .tryAcquire(Duration.ofSeconds(LIMIT_SECONDS))
                    .orElseThrow();
            again.close();
            return false;
        } catch (ClientClosedException e) {
            return true;
        }
    }

    private static @Nullable Lease outcome(CompletableFuture<Lease> request) throws InterruptedException {
        try {
            return request.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            require(false, "a request waits for ever");
            return null;
        } catch (ExecutionException e) {
            return null;
        }
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            System.out.println("WRONG: " + otherwise);
            Thread.getAllStackTraces().forEach((thread, trace) -> {
                System.out.println(thread);
                for (StackTraceElement element : trace) {
                    System.out.println("    " + element);
                }
            });
            Runtime.getRuntime().halt(1);
        }
    }
}
