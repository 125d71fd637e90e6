// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import static java.util.concurrent.TimeUnit.SECONDS;

import dev.zkrecipes.core.internal.wire.Printable;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicLong;

/** The only place that makes threads. All of them are daemons: an application that ends need not wait for a lock. */
public final class EngineThreads {
    private static final long IDLE_SECONDS = 5;

    private EngineThreads() {}

    /** The thread of a client's engine, not started yet. */
    public static Thread engine(Runnable loop) {
        return named("zkrecipes-engine-").newThread(loop);
    }

    public static ExecutorService supplier() {
        return idling(1, "zkrecipes-supplier-");
    }

    static ThreadPoolExecutor idling(int threads, String prefix) {
        ThreadPoolExecutor executor = new ThreadPoolExecutor(
                threads, Integer.MAX_VALUE, IDLE_SECONDS, SECONDS, new LinkedBlockingQueue<>(), named(prefix));
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    public static Thread atShutdown(Runnable task) {
        return make(task, "zkrecipes-shutdown");
    }

    /** Runs a task that may block for as long as it likes. */
    public static void start(String prefix, Runnable task) {
        named(prefix).newThread(task).start();
    }

    /** What messages call a thread: its name, fit to print; {@code #} and its id if it has none, as a virtual one. */
    public static String nameOf(Thread thread) {
        String name = thread.getName();
        return name.isBlank() ? "#" + thread.getId() : Printable.of(name);
    }

    private static ThreadFactory named(String prefix) {
        AtomicLong number = new AtomicLong();
        return task -> make(task, prefix.concat(String.valueOf(number.getAndIncrement())));
    }

    /**
     * Makes a thread that owes nothing to the one that happens to need it first: neither thread-locals nor class loader
     * nor priority. It would keep them in memory as long as it lives. ZooKeeper's threads are made by these.
     *
     * <p>Before JDK 24 a thread keeps the access control context in which it is made, and with that the class loader of
     * every method that is being executed. A privileged action has a context of its own.
     */
    // There is no other way to get rid of that context, as long as there is one; the priority is the usual one.
    @SuppressWarnings({"removal", "ThreadPriorityCheck"})
    private static Thread make(Runnable task, String name) {
        return AccessController.doPrivileged((PrivilegedAction<Thread>) () -> {
            Thread thread = new Thread(null, task, name, 0, false);
            thread.setContextClassLoader(EngineThreads.class.getClassLoader());
            thread.setPriority(Thread.NORM_PRIORITY);
            thread.setDaemon(true);
            return thread;
        });
    }
}
