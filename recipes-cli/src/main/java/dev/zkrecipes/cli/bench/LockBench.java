// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/** Repeats tasks for a while, each of which returns the nanoseconds that count. */
final class LockBench implements AutoCloseable {
    /** Nobody holds a lock for so long here, so a longer wait is a wait for a server. */
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private static final Duration END_LIMIT = Duration.ofSeconds(10);

    private static final int DIGITS = 3;

    private final List<ZooKeeperClient> sessions;
    private final String path;
    private final List<ACL> acl;
    private final Duration window;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    /** Gets the figures of one thing: its name for programs and for people, each time, and how many did it at once. */
    @FunctionalInterface
    interface Report {
        /** Returns whether to go on. */
        boolean row(String name, String title, Histogram nanos, int sessions);
    }

    /** A bench with two sessions or more, below a path; {@code acl} is that of nodes created without a lock. */
    LockBench(List<ZooKeeperClient> sessions, String path, List<ACL> acl, Duration window) {
        this.sessions = sessions;
        this.path = path;
        this.acl = new ArrayList<>(acl); // ZooKeeper asks it whether it contains null, which List.of refuses
        this.window = window;
    }

    /** Ends what still runs, and waits for it. */
    @Override
    public void close() {
        threads.shutdownNow();
        boolean unused = Uninterruptibles.awaitTerminationUninterruptibly(threads, END_LIMIT);
    }

    /** Measures until all is measured, or nobody reads any more. */
    void run(Report report) throws InterruptedException, ExecutionException {
        mutex(0, "mutex").acquire().close(); // creates the path
        InterProcessLock semaphore = new InterProcessSemaphore(sessions.get(0), path + "/semaphore", 3).permits(1);
        InterProcessLock multi =
                new InterProcessMultiLock(List.of(mutex(0, "multi-1"), mutex(0, "multi-2"), mutex(0, "multi-3")));
        HandOver handOver = new HandOver(List.of(mutex(0, "hand-over"), mutex(1, "hand-over")));
        List<Callable<Long>> all = IntStream.range(0, sessions.size())
                .mapToObj(session -> cycle(mutex(session, "contended")))
                .toList();
        try {
            boolean unused = row(report, "create", "node created: one round trip", List.of(this::create))
                    && row(report, "mutex", "mutex: acquire and release", List.of(cycle(mutex(0, "mutex"))))
                    && row(report, "semaphore", "semaphore: acquire and release 1 of 3", List.of(cycle(semaphore)))
                    && row(report, "multi-lock", "multi-lock: acquire and release 3 paths", List.of(cycle(multi)))
                    && row(report, "hand-over", "hand-over to another session", List.of(handOver::turn))
                    && row(report, "contended", "all sessions want one mutex", all);
        } finally {
            handOver.end();
        }
    }

    private boolean row(Report report, String name, String title, List<Callable<Long>> tasks)
            throws InterruptedException, ExecutionException {
        repeat(tasks, window.dividedBy(3)); // to warm up the compiler and the server
        return report.row(name, title, repeat(tasks, window), tasks.size());
    }

    /** Each on a thread of its own, at least once. */
    private Histogram repeat(List<Callable<Long>> tasks, Duration time)
            throws InterruptedException, ExecutionException {
        Histogram times = new ConcurrentHistogram(DIGITS);
        List<Callable<Boolean>> loops = new ArrayList<>();
        for (Callable<Long> task : tasks) {
            loops.add(() -> {
                long begin = System.nanoTime();
                do {
                    times.recordValue(task.call());
                } while (System.nanoTime() - begin < time.toNanos());
                return true;
            });
        }
        for (Future<Boolean> loop : threads.invokeAll(loops)) {
            loop.get();
        }
        return times;
    }

    private long create() throws InterruptedException {
        ZooKeeper zooKeeper = sessions.get(0)
                .zooKeeper()
                .orElseThrow(() -> new LockConnectionException("the session is over: measure again"));
        try {
            long begin = System.nanoTime();
            String node = zooKeeper.create(path + "/create-", new byte[0], acl, CreateMode.EPHEMERAL_SEQUENTIAL);
            long nanos = System.nanoTime() - begin;
            zooKeeper.delete(node, -1);
            return nanos;
        } catch (KeeperException e) {
            throw new LockConnectionException("no node can be created: " + e.getMessage(), e);
        }
    }

    private static Callable<Long> cycle(InterProcessLock lock) {
        return () -> {
            long begin = System.nanoTime();
            lock.tryAcquire(LIMIT).orElseThrow(LockBench::tooSlow).close();
            return System.nanoTime() - begin;
        };
    }

    /** Two sessions hand a lock to each other: from the release in one to the grant in the other, which waits. */
    private static final class HandOver {
        private final List<InterProcessLock> sides;
        private int holder;
        private CompletableFuture<Lease> held;
        private CompletableFuture<Lease> next;

        private HandOver(List<InterProcessLock> sides) {
            this.sides = sides;
            this.held = sides.get(0).acquireAsync();
            this.next = held;
        }

        private long turn() throws InterruptedException, ExecutionException {
            Lease lease = await(held);
            holder = 1 - holder;
            next = sides.get(holder).acquireAsync();
            while (!next.isDone() && sides.get(holder).participants().size() < sides.size()) {
                Thread.onSpinWait();
            }
            long begin = System.nanoTime();
            CompletableFuture<Void> released = lease.closeAsync();
            await(next);
            long nanos = System.nanoTime() - begin;
            await(released);
            held = next;
            return nanos;
        }

        private static <T> T await(CompletableFuture<T> future) throws InterruptedException, ExecutionException {
            try {
                return future.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                throw tooSlow();
            }
        }

        /** Gives back what is held, and what is granted after all. */
        private void end() {
            for (CompletableFuture<Lease> each : List.of(held, next)) {
                var unused = each.thenAccept(Lease::close);
                each.cancel(true);
            }
        }
    }

    private static LockConnectionException tooSlow() {
        return new LockConnectionException("no lock within " + LIMIT.toSeconds() + " s, though nobody held it: "
                + "the connection was lost, or the servers are too slow to be measured");
    }

    private InterProcessLock mutex(int session, String name) {
        return new InterProcessMutex(sessions.get(session), path + "/" + name);
    }
}
