// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi.port;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Port: the engine's tasks, its clock and its randomness. One task runs at a time, and only tasks use the engine's
 * state, so it needs no locks. In what follows, the engine thread is the thread that runs a task. A test supplies a
 * simulated clock and runs the tasks itself. Since the engine has no other source of time, threads or random numbers,
 * the same answers reproduce the same behaviour.
 */
public interface EngineScheduler {

    /** A scheduled task that can be cancelled. */
    @FunctionalInterface
    interface Timer {
        /** Cancels the task; has no effect once it has begun. */
        void cancel();
    }

    /** {@return the monotonic clock, as {@link System#nanoTime()}: nanoseconds since some fixed, arbitrary time} */
    long nanoTime();

    /** {@return the time of day, for people to read: the engine never computes a time-out with it} */
    Instant wallClock();

    /**
     * Runs a task as soon as possible. Tasks submitted by one thread run in order. The calling thread may run the task,
     * and some that were submitted before. After {@link #close()} the task is dropped.
     *
     * @param task must not block
     */
    void execute(Runnable task);

    /**
     * Runs a task as {@link #execute} does, but on a thread of the engine's own.
     *
     * @param task must not block
     */
    default void handOver(Runnable task) {
        execute(task);
    }

    /**
     * Runs a task on the engine thread after a delay. After {@link #close()} the task is dropped.
     *
     * @param delay how long to wait
     * @param task must not block
     * @return cancels the task
     */
    Timer schedule(Duration delay, Runnable task);

    /**
     * Runs a task that may block, anywhere but on the engine thread.
     *
     * @param task what to run
     */
    void executeBlocking(Runnable task);

    /**
     * Lets a thread of the application wait for the engine. The thread must not run anything else meanwhile, as
     * {@link CompletableFuture#get()} does on a thread of a {@link java.util.concurrent.ForkJoinPool}: a task that the
     * thread has forked would run in the middle of the code that waits here. Never called on the engine thread.
     *
     * @param future what to wait for, with whatever outcome
     * @param timeout the longest wait, not negative
     * @return whether the future has completed
     * @throws InterruptedException if the thread is interrupted before it has
     */
    boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException;

    /**
     * {@return a source of random numbers that any thread may use, for ids that no other process may ever have and for
     * the jitter of pauses}
     */
    RandomGenerator random();

    /** {@return whether the caller is the engine thread, that is, runs a task} */
    boolean isEngineThread();

    /**
     * Sets the handler to be called when a task throws. The engine's state may be inconsistent then, so it must not
     * continue: pending tasks are dropped, and so are later ones, except those that the handler's thread submits. A
     * test's scheduler may propagate the exception instead.
     *
     * @param told has to end everything; called again a little later if it throws
     */
    default void onFailure(Consumer<Throwable> told) {}

    /** Ends after the tasks that were submitted so far. */
    void close();
}
