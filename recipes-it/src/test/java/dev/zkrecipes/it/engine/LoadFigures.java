// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;

/**
 * Prints what the engine costs under load, one line for each figure, always the same lines, so that two versions can be
 * compared. It asserts nothing. {@code bin/load-figures} runs each figure in a JVM of its own, with a bound on time and
 * heap; the server runs in the same JVM, so heap and processor time include it.
 */
public final class LoadFigures {
    private static final String PATH = "/figures/orders";

    private final EmbeddedZooKeeper server;
    private final Duration sessionTimeout;

    private LoadFigures(EmbeddedZooKeeper server, Duration sessionTimeout) {
        this.server = server;
        this.sessionTimeout = sessionTimeout;
    }

    /**
     * Prints one figure.
     *
     * @param args its name and its sizes, as {@code bin/load-figures} gives them
     */
    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            throw new IllegalArgumentException("name a figure; bin/load-figures runs all of them");
        }
        int[] sizes = new int[args.length - 1];
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = Integer.parseInt(args[i + 1]);
        }
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            LoadFigures figures = new LoadFigures(server, sessionTimeout(args[0]));
            switch (args[0]) {
                case "one-object" -> figures.waiters(sizes[0], false);
                case "many-objects" -> figures.waiters(sizes[0], true);
                case "threads" -> figures.besideHoldingThreads(sizes[0], sizes[1]);
                case "semaphore" -> figures.semaphore(sizes[0], sizes[1]);
                case "readers" -> figures.readers(sizes[0]);
                case "idle" -> figures.idle(sizes[0], sizes[1]);
                case "drain" -> figures.drain(sizes[0]);
                default -> throw new IllegalArgumentException("no such figure: " + args[0]);
            }
        }
        System.exit(0); // also if a thread of a client that is busy is left
    }

    /** A short one where something is sent in shares of it; else one that does not get in the way. */
    private static Duration sessionTimeout(String figure) {
        return Duration.ofSeconds(
                switch (figure) {
                    case "idle" -> 6;
                    case "threads", "readers" -> 30;
                    default -> 60;
                });
    }

    static void print(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }

    private ZooKeeperClient connect() throws InterruptedException {
        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(sessionTimeout)
                .build();
        if (!client.awaitConnected(Duration.ofSeconds(20))) {
            throw new IllegalStateException("not connected to " + server);
        }
        return client;
    }

    // ---- The figures.

    private void waiters(int count, boolean manyObjects) throws Exception {
        ZooKeeperClient client = connect();
        InterProcessLock one = new InterProcessMutex(client, PATH);
        Lease held = one.acquireAsync().get();
        Meter meter = new Meter(server, true);
        var waiting = queue(count, i -> manyObjects ? new InterProcessMutex(client, PATH) : one);
        settle(count + 1);
        Meter.Reading cost = meter.read();
        print(
                "%d waiters through %s: %d MB live heap, %.1f s processor, %.1f s, %s",
                count,
                manyObjects ? "as many objects" : "one object",
                cost.liveMegabytes(),
                cost.processorSeconds(),
                cost.seconds(),
                cost.requests());
        held.close();
        waiting.forEach(future -> future.cancel(false));
    }

    private void besideHoldingThreads(int waiters, int threads) throws Exception {
        ZooKeeperClient client = connect();
        CountDownLatch holding = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            InterProcessLock own = new InterProcessMutex(client, "/figures/own-" + i);
            Thread thread = new Thread(() -> holdForEver(own, holding), "holder-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        holding.await();
        Lease held = new InterProcessMutex(client, PATH).acquireAsync().get();
        Lease other =
                new InterProcessMutex(client, "/figures/other").acquireAsync().get();
        Meter meter = new Meter(server, true);
        try (QuietClient quiet = new QuietClient(connect(), other)) {
            InterProcessLock lock = new InterProcessMutex(client, PATH);
            var waiting = queue(waiters, i -> lock);
            boolean queued = within(Duration.ofMinutes(3), () -> children() > waiters);
            Meter.Reading cost = meter.read();
            print(
                    "%d waiters beside %d holding threads: %s in %.1f s, %.1f s processor",
                    waiters,
                    threads,
                    queued ? "queued" : "only " + (children() - 1) + " queued",
                    cost.seconds(),
                    cost.processorSeconds());
            quiet.during("while they queued");
            Meter idle = new Meter(server, true);
            Thread.sleep(30_000);
            quiet.during("in 30 s of waiting");
            cost = idle.read();
            print("  %.1f s processor in 30 s of waiting, %s", cost.processorSeconds(), cost.requests());
            var unused = held.closeAsync();
            waiting.forEach(future -> future.cancel(false));
        }
    }

    private static void holdForEver(InterProcessLock own, CountDownLatch holding) {
        try (Lease lease = own.acquire()) {
            holding.countDown();
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void semaphore(int waiters, int limit) throws Exception {
        ZooKeeperClient client = connect();
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, PATH, limit);
        Meter meter = new Meter(server, true);
        List<CompletableFuture<Lease>> wanted = new ArrayList<>();
        for (int i = 0; i < limit + waiters; i++) {
            wanted.add(semaphore.acquireAsync());
        }
        AtomicInteger granted = new AtomicInteger();
        for (CompletableFuture<Lease> future : wanted) {
            var unused = future.thenRun(granted::incrementAndGet);
        }
        settle(limit + waiters);
        Meter.Reading cost = meter.read();
        print(
                "semaphore, %d waiters, limit %d: %d granted, %d MB live heap, %.1f s processor, %.1f s, %s",
                waiters,
                limit,
                granted.get(),
                cost.liveMegabytes(),
                cost.processorSeconds(),
                cost.seconds(),
                cost.requests());
        Meter drained = new Meter(server, true);
        wanted.forEach(LoadFigures::closeWhenGranted);
        boolean empty = within(Duration.ofMinutes(2), () -> children() == 0);
        cost = drained.read();
        print(
                "  %s: %.1f s, %.1f s processor, %s",
                empty ? "all served" : children() + " are left",
                cost.seconds(),
                cost.processorSeconds(),
                cost.requests());
    }

    private void readers(int count) throws Exception {
        ZooKeeperClient client = connect();
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, PATH);
        // Of another client: a lease of this one would have its proof renewed by itself.
        Lease writer = new InterProcessReadWriteLock(connect(), PATH)
                .writeLock()
                .acquireAsync()
                .get();
        var readers = queue(count, i -> lock.readLock());
        settle(count + 1);
        Thread.sleep(sessionTimeout.toMillis() / 6 + 1000); // so that the proof is no longer fresh
        Meter meter = new Meter(server, true);
        writer.close();
        CompletableFuture.allOf(readers.toArray(CompletableFuture<?>[]::new)).join();
        Meter.Reading cost = meter.read();
        print("%d readers let in at once: %.2f s, %s", count, cost.seconds(), cost.requests());
    }

    private void idle(int sessions, int seconds) throws Exception {
        Lease held = new InterProcessMutex(connect(), PATH).acquireAsync().get();
        for (int i = 0; i < sessions; i++) {
            var unused = new InterProcessMutex(connect(), PATH).acquireAsync();
        }
        within(Duration.ofMinutes(1), () -> children() > sessions); // not settled: an engine that polls never is
        Thread.sleep(2000);
        Meter meter = new Meter(server, true);
        Thread.sleep(seconds * 1000L);
        print(
                "%d idle waiting sessions (T = %s) for %d s: %s",
                sessions, sessionTimeout, seconds, meter.read().requests());
        held.close();
    }

    private void drain(int count) throws Exception {
        ZooKeeperClient client = connect();
        InterProcessLock lock = new InterProcessMutex(client, PATH);
        Lease held = lock.acquireAsync().get();
        var waiting = queue(count, i -> lock);
        settle(count + 1);
        Meter meter = new Meter(server, true);
        AtomicInteger served = new AtomicInteger();
        for (CompletableFuture<Lease> future : waiting) {
            var unused = future.thenRun(served::incrementAndGet);
            closeWhenGranted(future);
        }
        var unused = held.closeAsync();
        boolean all = within(Duration.ofMinutes(5), () -> served.get() == count);
        Meter.Reading cost = meter.read();
        print(
                "%d waiters drained: %s in %.1f s, %.2f ms each, %.1f s processor, %s",
                count,
                all ? "all" : served + " of them",
                cost.seconds(),
                cost.seconds() * 1000 / served.get(),
                cost.processorSeconds(),
                cost.requests());
    }

    // ---- Steps.

    private static List<CompletableFuture<Lease>> queue(int count, IntFunction<InterProcessLock> lock) {
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            waiting.add(lock.apply(i).acquireAsync());
        }
        return waiting;
    }

    private static void closeWhenGranted(CompletableFuture<Lease> future) {
        var unused = future.thenCompose(Lease::closeAsync);
    }

    private int children() {
        return server.nodeExists(PATH) ? server.children(PATH).size() : 0;
    }

    /** Waits until that many nodes are in the queue, and then for two seconds without requests and with an idle processor. */
    private void settle(int nodes) throws InterruptedException {
        long end = System.nanoTime() + Duration.ofMinutes(3).toNanos();
        int quiet = 0;
        while (quiet < 2 && System.nanoTime() - end < 0) {
            Meter second = new Meter(server, false);
            Thread.sleep(1000);
            quiet = second.isQuiet() && children() >= nodes ? quiet + 1 : 0;
        }
        if (quiet < 2) {
            print("  not settled within 3 minutes: %d of %d nodes", children(), nodes);
        }
    }

    /** Polls: the class path has the kit, and no library for tests. */
    private static boolean within(Duration limit, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end >= 0) {
                return false;
            }
            Thread.sleep(50);
        }
        return true;
    }
}
