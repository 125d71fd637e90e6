// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The only place that makes threads. All of them are daemons: an application that ends need not wait for a lock. */
public final class EngineThreads {
    private static final long IDLE_SECONDS = 5;

    private EngineThreads() {}

    /** The thread of a client's engine, not started yet. */
    public static Thread engine(Runnable loop) {
        return named("zkrecipes-engine-%d").newThread(loop);
    }

    /** Where user code runs by default: as many threads as it keeps busy at the same time. */
    public static ThreadPoolExecutor callbacks() {
        return asManyAsNeeded("zkrecipes-callback-%d");
    }

    /** Where losses are told, whatever else user code does. */
    public static ThreadPoolExecutor losses() {
        return asManyAsNeeded("zkrecipes-loss-%d");
    }

    private static ThreadPoolExecutor asManyAsNeeded(String format) {
        return new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), named(format));
    }

    /** Asks a supplier for handles. */
    public static ExecutorService supplier() {
        ThreadPoolExecutor executor = new ThreadPoolExecutor(
                1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), named("zkrecipes-supplier-%d"));
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** What the JVM starts when it ends. */
    public static Thread atShutdown(Runnable task) {
        return new Thread(task, "zkrecipes-shutdown");
    }

    /** Runs the blocking close of a handle. */
    public static void closing(Runnable task) {
        named("zkrecipes-close-%d").newThread(task).start();
    }

    /** Runs an attempt to find out why there is no connection, which blocks for a while. */
    public static void diagnosing(Runnable task) {
        named("zkrecipes-diagnosis-%d").newThread(task).start();
    }

    private static ThreadFactory named(String format) {
        return new ThreadFactoryBuilder().setDaemon(true).setNameFormat(format).build();
    }
}
