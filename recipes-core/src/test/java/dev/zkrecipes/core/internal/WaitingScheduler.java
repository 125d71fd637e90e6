// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/** Lets the engine run while the test's thread waits for it, and then does what it is told. */
public final class WaitingScheduler implements EngineScheduler {
    public final ManualScheduler engine = new ManualScheduler();
    public Runnable inTheWait = () -> {};
    public Runnable uponRandom = () -> {};
    public Runnable uponTime = () -> {};
    public Duration ahead = Duration.ZERO; // the clock, of what the engine has come to

    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) {
        engine.run();
        inTheWait.run();
        if (!future.isDone()) {
            engine.advance(timeout.compareTo(Duration.ofHours(1)) < 0 ? timeout : Duration.ofHours(1));
        }
        return future.isDone();
    }

    @Override
    public long nanoTime() {
        uponTime.run();
        return engine.nanoTime() + ahead.toNanos();
    }

    @Override
    public Instant wallClock() {
        return engine.wallClock();
    }

    @Override
    public void execute(Runnable task) {
        engine.execute(task);
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        return engine.schedule(delay, task);
    }

    @Override
    public void executeBlocking(Runnable task) {
        engine.executeBlocking(task);
    }

    @Override
    public RandomGenerator random() {
        uponRandom.run();
        return engine.random();
    }

    @Override
    public boolean isEngineThread() {
        return engine.isEngineThread();
    }

    @Override
    public void onFailure(Consumer<Throwable> told) {
        engine.onFailure(told);
    }

    @Override
    public void close() {
        engine.close();
    }
}
