// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi.port;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Port: the engine's tasks, its clock and its randomness. One task runs at a time, and everything that the engine knows
 * is used by its tasks alone, so it needs no locks. In what follows, the engine thread is the thread that runs a task.
 * A test puts a simulated clock here and runs the tasks itself; since the engine asks nobody else for time, threads or
 * random numbers, the same answers make it do the same again.
 */
public interface EngineScheduler {

    /** A task that was scheduled and can be called off. */
    @FunctionalInterface
    interface Timer {
        /** Calls the task off; has no effect once it has begun. */
        void cancel();
    }

    /** {@return the monotonic clock, as {@link System#nanoTime()}: nanoseconds since some fixed, arbitrary time} */
    long nanoTime();

    /** {@return the time of day, for people to read: the engine never computes a time-out with it} */
    Instant wallClock();

    /**
     * Runs a task as soon as possible, in the order in which tasks are given by one thread. The calling thread may run
     * it, and some that were given before. After {@link #close()} the task is dropped.
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
     * @return calls the task off
     */
    Timer schedule(Duration delay, Runnable task);

    /**
     * Runs a task that may block, anywhere but on the engine thread.
     *
     * @param task what to run
     */
    void executeBlocking(Runnable task);

    /**
     * Lets a thread of the application wait for the engine. The thread must not run anything else meanwhile, as {@link
     * CompletableFuture#get()} does on a thread of a {@link java.util.concurrent.ForkJoinPool}: a task that the thread
     * has forked would run in the middle of what waits here. Never called on the engine thread.
     *
     * @param future what to wait for, however it ends
     * @param timeout the longest wait, not negative
     * @return whether it has ended
     * @throws InterruptedException if the thread is interrupted before it has
     */
    boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException;

    /**
     * {@return a source that any thread may use, for ids that no other process may ever have and for the jitter of
     * pauses}
     */
    RandomGenerator random();

    /** {@return whether the caller is the engine thread, that is, runs a task} */
    boolean isEngineThread();

    /**
     * Sets who is told when a task throws. What the engine knows may be wrong then, so it must not go on: the tasks
     * that were given before are dropped, and so is what any thread gives later but the one on which this is told. A
     * scheduler of a test may let the exception out instead.
     *
     * @param told has to end everything; told again if it throws, a little later
     */
    default void onFailure(Consumer<Throwable> told) {}

    /** Ends after the tasks that were given so far. */
    void close();
}
