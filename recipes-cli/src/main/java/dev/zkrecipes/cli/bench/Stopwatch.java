// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;

/** Repeats tasks for a while, at first without counting, to warm up the compiler and the server. */
final class Stopwatch {
    private static final int WARM_UP_SHARE = 3;
    private static final Duration LONGEST_END = Duration.ofSeconds(10);

    private final Duration window;

    Stopwatch(Duration window) {
        this.window = window;
    }

    /** One task on this thread: at least once. */
    Figures measure(Task task) throws InterruptedException, ExecutionException, TimeoutException, KeeperException {
        repeat(task, window.dividedBy(WARM_UP_SHARE));
        List<Long> nanos = repeat(task, window);
        return Figures.of(
                nanos,
                Duration.ofNanos(nanos.stream().mapToLong(Long::longValue).sum()));
    }

    /**
     * Several tasks at once, each on a thread of its own. When this returns or throws, none of them is still running.
     */
    Figures measureTogether(List<Task> tasks) throws InterruptedException, ExecutionException {
        ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
        try {
            together(threads, tasks, window.dividedBy(WARM_UP_SHARE));
            long begin = System.nanoTime();
            List<Long> nanos = together(threads, tasks, window);
            return Figures.of(nanos, Duration.ofNanos(System.nanoTime() - begin));
        } finally {
            threads.shutdownNow();
            awaitEnd(threads);
        }
    }

    private static List<Long> together(ExecutorService threads, List<Task> tasks, Duration time)
            throws InterruptedException, ExecutionException {
        List<Future<List<Long>>> running = new ArrayList<>();
        for (Task task : tasks) {
            running.add(threads.submit(() -> repeat(task, time)));
        }
        List<Long> all = new ArrayList<>();
        for (Future<List<Long>> each : running) {
            all.addAll(each.get());
        }
        return all;
    }

    private static List<Long> repeat(Task task, Duration time)
            throws InterruptedException, ExecutionException, TimeoutException, KeeperException {
        List<Long> nanos = new ArrayList<>();
        long begin = System.nanoTime();
        do {
            nanos.add(task.run());
        } while (System.nanoTime() - begin < time.toNanos());
        return nanos;
    }

    /** Waits even if this thread is interrupted, so that the tasks release what they hold. */
    private static void awaitEnd(ExecutorService threads) {
        boolean interrupted = Thread.interrupted();
        long begin = System.nanoTime();
        while (!threads.isTerminated() && System.nanoTime() - begin < LONGEST_END.toNanos()) {
            try {
                threads.awaitTermination(LONGEST_END.toMillis(), TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
