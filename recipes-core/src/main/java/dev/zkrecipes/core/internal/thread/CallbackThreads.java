// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread pool for user code, which may block. It has up to {@value #MOST} threads, and more only when it is stuck:
 * callbacks have been queued for a second, and none has completed in that time. Then the number of threads doubles, so
 * that callbacks that wait for each other or for this library can proceed. Once the pool is no longer stuck, the limit
 * applies again. A slow processor adds no threads, because callbacks still complete on it. Idle threads end.
 * Thread-safe.
 */
final class CallbackThreads implements Executor {
    private static final Logger log = LoggerFactory.getLogger(CallbackThreads.class);
    static final int MOST = 64;
    static final Duration PATIENCE = Duration.ofSeconds(1); // between two checks of the pool

    private final ThreadPoolExecutor pool;
    private final EngineScheduler scheduler;
    private final AtomicBoolean watched = new AtomicBoolean(); // whether a check is scheduled
    private volatile boolean closed;

    CallbackThreads(ThreadPoolExecutor pool, EngineScheduler scheduler) {
        this.pool = pool;
        this.scheduler = scheduler;
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(task);
        watch();
    }

    /**
     * Schedules a check of the pool if callbacks are queued, or if the pool is larger than usual. Schedules nothing for
     * a pool that keeps up, so an idle client has no timer.
     */
    private void watch() {
        boolean isAsUsual = pool.getQueue().isEmpty() && pool.getCorePoolSize() == MOST;
        if (!isAsUsual && !closed && watched.compareAndSet(false, true)) {
            long ended = pool.getCompletedTaskCount();
            scheduler.schedule(PATIENCE, () -> look(ended));
        }
    }

    /**
     * Adds threads if the pool is stuck: callbacks are queued, and none has completed since {@code endedBefore} was
     * counted. Runs on the engine thread, like {@link #close}.
     */
    private void look(long endedBefore) {
        watched.set(false);
        if (!closed) {
            boolean stuck = !pool.getQueue().isEmpty() && pool.getCompletedTaskCount() == endedBefore;
            try {
                pool.setCorePoolSize(stuck ? Math.max(MOST, 2 * pool.getPoolSize()) : MOST);
            } catch (OutOfMemoryError e) {
                log.warn("No more threads can be started for the callbacks that wait: let callbacks not block.", e);
            }
            watch();
        }
    }

    /** Ends idle threads now. Each later task gets a thread of its own, which ends after it. */
    void close() {
        closed = true;
        pool.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
        pool.setCorePoolSize(Integer.MAX_VALUE);
    }
}
