// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi.port;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * Port: the engine's one thread, its clock and its randomness. Everything that the engine knows is confined to this
 * thread, so it needs no locks. Another thread may stand in for it, but never run beside it. A test puts a simulated
 * clock here and runs the tasks itself; since the engine asks nobody else for time, threads or random numbers, the same
 * answers make it do the same again.
 */
public interface EngineScheduler {

    /** A task that was scheduled and can be called off. */
    @FunctionalInterface
    interface Timer {
        /** Calls the task off; has no effect once it has begun. */
        void cancel();
    }

    /**
     * The monotonic clock, as {@link System#nanoTime()}.
     *
     * @return nanoseconds since some fixed, arbitrary time
     */
    long nanoTime();

    /**
     * The wall clock, for people to read: the engine never computes a time-out with it.
     *
     * @return the time of day
     */
    Instant wallClock();

    /**
     * Runs a task on the engine thread as soon as possible, in the order in which tasks are given by one thread. After
     * {@link #close()} the task is dropped.
     *
     * @param task must not block
     */
    void execute(Runnable task);

    /**
     * The same for a task that need not be run before the next one that the caller is sure to give soon: the engine is
     * not woken for it alone.
     *
     * @param task must not block
     */
    default void executeWithNext(Runnable task) {
        execute(task);
    }

    /**
     * The same for a task that ZooKeeper's event thread brings from a session that the client has for itself. If the
     * engine has nothing to do, that thread may run the task at once, and be the engine thread meanwhile. What the task
     * gives to be executed runs later.
     *
     * @param task must not block
     */
    default void deliver(Runnable task) {
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
     * Random numbers, for ids that no other process may ever have and for the jitter of pauses.
     *
     * @return a source that any thread may use
     */
    RandomGenerator random();

    /**
     * Whether the caller runs on the engine thread, or on one that stands in for it.
     *
     * @return true if so
     */
    boolean isEngineThread();

    /** Ends the thread after the tasks that were given to {@link #execute} so far. */
    void close();
}
