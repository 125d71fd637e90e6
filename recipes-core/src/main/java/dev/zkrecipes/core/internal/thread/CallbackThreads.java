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
 * A pool for user code, which may be quick and may block. It has up to {@value #MOST} threads, and more only when it is
 * stuck: a callback waits and none has ended for a second. Then the number of threads doubles, so that callbacks that
 * wait for each other or for the library go on; when no callback waits any more, the limit is back. A slow processor
 * adds no threads, because callbacks end on it. Idle threads end. Thread-safe.
 */
final class CallbackThreads implements Executor {
    private static final Logger log = LoggerFactory.getLogger(CallbackThreads.class);
    static final int MOST = 64;
    static final Duration PATIENCE = Duration.ofSeconds(1);

    private final ThreadPoolExecutor pool;
    private final EngineScheduler scheduler;
    private final AtomicBoolean watched = new AtomicBoolean();
    private volatile boolean closed;

    CallbackThreads(String namePrefix, EngineScheduler scheduler) {
        this(EngineThreads.idling(MOST, namePrefix), scheduler);
    }

    CallbackThreads(ThreadPoolExecutor pool, EngineScheduler scheduler) {
        this.pool = pool;
        this.scheduler = scheduler;
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(task);
        watch();
    }

    /** Looks in a while if a callback waits, or if the limit is not back. */
    private void watch() {
        boolean isAsUsual = pool.getQueue().isEmpty() && pool.getCorePoolSize() == MOST;
        if (!isAsUsual && !closed && watched.compareAndSet(false, true)) {
            long ended = pool.getCompletedTaskCount();
            scheduler.schedule(PATIENCE, () -> look(ended));
        }
    }

    /** Looks whether the pool is stuck; on the engine thread, like {@link #close}. */
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

    /** Idle threads end now. Each later task gets a thread of its own. */
    void close() {
        closed = true;
        pool.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
        pool.setCorePoolSize(Integer.MAX_VALUE);
    }
}
