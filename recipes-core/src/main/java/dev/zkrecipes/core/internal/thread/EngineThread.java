// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The real thread and the real clocks. */
public final class EngineThread implements EngineScheduler {
    private static final Logger log = LoggerFactory.getLogger(EngineThread.class);

    /** One for all clients: ids of two processes must differ even if both started at the same moment. */
    private static final SecureRandom RANDOM = new SecureRandom();

    private final ScheduledExecutorService executor;
    private volatile @Nullable Thread thread;

    public EngineThread() {
        executor = EngineThreads.engine(made -> thread = made);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Instant wallClock() {
        return Instant.now();
    }

    @Override
    public void execute(Runnable task) {
        executor.execute(() -> run(task));
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        Future<?> future = executor.schedule(() -> run(task), delay.toNanos(), TimeUnit.NANOSECONDS);
        return () -> future.cancel(false);
    }

    @Override
    public void executeBlocking(Runnable task) {
        EngineThreads.closing(task);
    }

    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
        try {
            future.get(Deadline.saturatedNanos(timeout), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException | CancellationException e) {
            return true; // the caller looks how
        }
        return true;
    }

    @Override
    public RandomGenerator random() {
        return RANDOM;
    }

    @Override
    public boolean isEngineThread() {
        return Thread.currentThread() == thread;
    }

    @Override
    public void close() {
        executor.shutdown();
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable t) {
            // The thread has to go on: every other lock of the client depends on it.
            log.error("The lock engine failed; please report this with the stack trace.", t);
        }
    }
}
