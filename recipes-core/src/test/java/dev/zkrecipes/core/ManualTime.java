// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;

/**
 * An engine thread and a monotonic clock that move only when the test moves them, and a wall clock that jumps a year to
 * and fro whenever somebody looks at it.
 */
final class ManualTime implements EngineScheduler {
    private static final Duration YEAR = Duration.ofDays(365);

    private final PriorityQueue<Task> tasks =
            new PriorityQueue<>(Comparator.comparingLong(Task::at).thenComparingLong(Task::number));
    private final AtomicLong looks = new AtomicLong();
    private final Random random = new Random(1);
    private volatile long now;
    private volatile boolean running;
    private long given;

    private record Task(long at, long number, Runnable body) {}

    /** Runs what is due, moving the clock from task to task until {@code time} has passed. */
    void pass(Duration time) {
        long end = now + time.toNanos();
        while (runNext(end)) {}
        now = end;
    }

    private boolean runNext(long end) {
        Task task = next(end);
        if (task == null) {
            return false;
        }
        now = Math.max(now, task.at());
        running = true;
        task.body().run();
        running = false;
        return true;
    }

    private synchronized Task next(long end) {
        Task task = tasks.peek();
        return task == null || task.at() > end ? null : tasks.remove();
    }

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public Instant wallClock() {
        return looks.incrementAndGet() % 2 == 0 ? Instant.EPOCH : Instant.EPOCH.plus(YEAR);
    }

    @Override
    public void execute(Runnable task) {
        schedule(Duration.ZERO, task);
    }

    @Override
    public synchronized Timer schedule(Duration delay, Runnable body) {
        Task task = new Task(now + delay.toNanos(), given++, body);
        tasks.add(task);
        return () -> cancel(task);
    }

    private synchronized void cancel(Task task) {
        tasks.remove(task);
    }

    @Override
    public void executeBlocking(Runnable task) {
        task.run();
    }

    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) {
        long end = now + timeout.toNanos();
        while (!future.isDone()) {
            if (!runNext(end)) {
                now = end;
                return future.isDone();
            }
        }
        return true;
    }

    @Override
    public RandomGenerator random() {
        return random;
    }

    @Override
    public boolean isEngineThread() {
        return running;
    }

    @Override
    public void close() {}
}
