// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import dev.zkrecipes.core.spi.EngineScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An engine thread and a monotonic clock that move only when the test moves them, and a wall clock that jumps a year to
 * and fro whenever somebody looks at it.
 */
final class ManualTime implements EngineScheduler {
    private static final Duration YEAR = Duration.ofDays(365);

    private final PriorityQueue<Task> tasks =
            new PriorityQueue<>(Comparator.comparingLong(Task::at).thenComparingLong(Task::number));
    private final AtomicLong looks = new AtomicLong();
    private volatile long now;
    private volatile boolean running;
    private long given;

    private record Task(long at, long number, Runnable body) {}

    /** Runs what is due, moving the clock from task to task until {@code time} has passed. */
    void pass(Duration time) {
        long end = now + time.toNanos();
        running = true;
        for (Task task = next(end); task != null; task = next(end)) {
            now = Math.max(now, task.at());
            task.body().run();
        }
        running = false;
        now = end;
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
    public boolean isEngineThread() {
        return running;
    }

    @Override
    public void close() {}
}
