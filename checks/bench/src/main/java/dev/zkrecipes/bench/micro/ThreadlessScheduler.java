// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.micro;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * An engine without a thread: its tasks run on the thread that waits for them, so that what a benchmark measures is the
 * engine's work and no change of threads. Time stands still: no lease ages, and nothing that is scheduled comes due.
 * Not thread-safe.
 */
final class ThreadlessScheduler implements EngineScheduler {
    private static final Timer NEVER = () -> {};

    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final RandomGenerator random = new SplittableRandom(1);
    private boolean running;

    /** Runs tasks until there are none. */
    void runAll() {
        boolean outer = running;
        running = true;
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        running = outer;
    }

    @Override
    public long nanoTime() {
        return 1;
    }

    @Override
    public Instant wallClock() {
        return Instant.EPOCH;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        return NEVER;
    }

    @Override
    public void executeBlocking(Runnable task) {
        task.run();
    }

    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) {
        runAll();
        return future.isDone();
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
    public void close() {
        runAll();
    }
}
