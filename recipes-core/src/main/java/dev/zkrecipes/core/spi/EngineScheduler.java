// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import java.time.Duration;
import java.time.Instant;

/**
 * Port: the engine's one thread and its clock. Everything that the engine knows is confined to this thread, so it needs
 * no locks. A test puts a simulated clock here and runs the tasks itself.
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
     * Runs a task on the engine thread after a delay. After {@link #close()} the task is dropped.
     *
     * @param delay how long to wait
     * @param task must not block
     * @return calls the task off
     */
    Timer schedule(Duration delay, Runnable task);

    /**
     * Whether the caller runs on the engine thread.
     *
     * @return true if so
     */
    boolean isEngineThread();

    /** Ends the thread after the tasks that were given to {@link #execute} so far. */
    void close();
}
