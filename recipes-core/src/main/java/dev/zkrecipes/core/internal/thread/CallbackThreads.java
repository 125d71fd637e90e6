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
 * Threads for user code, which may be quick and may block. One thread serves callbacks that are quick, however many
 * there are at once. A callback that has waited for 10 ms shows that the threads are held up, and their number doubles
 * until nobody waits for so long. So the number of threads follows that of callbacks that block. Idle threads end.
 * Thread-safe.
 */
final class CallbackThreads implements Executor {
    private static final Logger log = LoggerFactory.getLogger(CallbackThreads.class);
    static final Duration PATIENCE = Duration.ofMillis(10);

    private final ThreadPoolExecutor pool;
    private final EngineScheduler scheduler;
    private final AtomicBoolean watched = new AtomicBoolean();
    private boolean failed; // to add threads, the last time; on the engine thread
    private volatile boolean closed;

    CallbackThreads(ThreadPoolExecutor pool, EngineScheduler scheduler) {
        this.pool = pool;
        this.scheduler = scheduler;
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(task);
        try {
            watch();
        } catch (Throwable t) { // the task has been taken, so nobody may hear otherwise
            log.warn("A callback may wait for one that blocks: nobody looks after it until the next one comes.", t);
        }
    }

    /** Looks again in a while if a task waits. */
    private void watch() {
        if (!pool.getQueue().isEmpty() && watched.compareAndSet(false, true)) {
            boolean scheduled = false;
            try {
                long given = pool.getTaskCount();
                scheduler.schedule(PATIENCE, () -> look(given));
                scheduled = true;
            } finally {
                if (!scheduled) {
                    watched.set(false);
                }
            }
        }
    }

    /** Adds threads if a task that was given a while ago has not begun; on the engine thread. */
    private void look(long given) {
        try {
            int waiting = pool.getQueue().size();
            if (waiting == 0) {
                resize(1);
            } else if (pool.getTaskCount() - waiting < given) {
                resize(2 * pool.getCorePoolSize());
                failed = false;
            }
        } catch (Throwable t) {
            if (!failed) {
                log.warn("No thread can be started for callbacks that wait for one that blocks. It is tried again.", t);
            }
            failed = true;
            resize(Math.max(1, pool.getPoolSize())); // a pool does not start later what it could not start
        } finally {
            watched.set(false);
            watch();
        }
    }

    private void resize(int threads) {
        if (!closed) {
            pool.setCorePoolSize(threads);
        }
        if (closed) { // since
            pool.setCorePoolSize(Integer.MAX_VALUE);
        }
    }

    /** Idle threads end now. Each later task gets a thread of its own. */
    void close() {
        closed = true;
        pool.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
        pool.setCorePoolSize(Integer.MAX_VALUE);
    }
}
