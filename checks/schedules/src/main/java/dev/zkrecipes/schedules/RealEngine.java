// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import dev.zkrecipes.core.internal.thread.EngineExecutor;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Runs the engine on its real executor. The random numbers are the same in each schedule, so that a recorded schedule
 * can be replayed.
 */
final class RealEngine implements EngineScheduler {
    /** Uses a lambda rather than a method reference: Fray replaces the clock only in code that it instruments. */
    private final EngineExecutor thread = new EngineExecutor(false, () -> System.nanoTime());

    private final RandomGenerator random;

    RealEngine(long seed) {
        this.random = new SplittableRandom(seed);
    }

    @Override
    public long nanoTime() {
        return thread.nanoTime();
    }

    @Override
    public Instant wallClock() {
        return Instant.EPOCH;
    }

    @Override
    public void execute(Runnable task) {
        thread.execute(task);
    }

    @Override
    public void handOver(Runnable task) {
        thread.handOver(task);
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        return thread.schedule(delay, task);
    }

    @Override
    public void executeBlocking(Runnable task) {
        thread.executeBlocking(task);
    }

    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
        return thread.await(future, timeout);
    }

    @Override
    public RandomGenerator random() {
        return random;
    }

    @Override
    public boolean isEngineThread() {
        return thread.isEngineThread();
    }

    @Override
    public void onFailure(Consumer<Throwable> told) {
        thread.onFailure(told);
    }

    @Override
    public void close() {
        thread.close();
    }
}
