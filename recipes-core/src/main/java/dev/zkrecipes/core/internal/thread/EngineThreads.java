// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import static java.util.concurrent.TimeUnit.SECONDS;

import dev.zkrecipes.core.internal.wire.Printable;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Creates all threads of this library. All of them are daemon threads, so they do not keep the JVM of an application
 * that ends from exiting.
 */
public final class EngineThreads {
    private static final long IDLE_SECONDS = 5; // before an idle thread of a pool ends

    private EngineThreads() {}

    /** Returns the thread of a client's engine, not started yet. */
    public static Thread engine(Runnable loop) {
        return named("zkrecipes-engine-").newThread(loop);
    }

    /** Returns a pool whose threads all end when they are idle, so that an idle client keeps none. */
    static ThreadPoolExecutor idling(int threads, String prefix) {
        ThreadPoolExecutor executor = new ThreadPoolExecutor(
                threads, Integer.MAX_VALUE, IDLE_SECONDS, SECONDS, new LinkedBlockingQueue<>(), named(prefix));
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** Returns the thread that the JVM starts when it shuts down, not started yet. */
    public static Thread atShutdown(Runnable task) {
        return make(task, "zkrecipes-shutdown");
    }

    /** Runs a task, which may block for as long as it likes, on a thread of its own. */
    public static void start(String prefix, Runnable task) {
        named(prefix).newThread(task).start();
    }

    /**
     * Returns what messages call a thread: its name, fit to print. A thread without a name, such as most virtual
     * threads, is called {@code #} and its id.
     */
    public static String nameOf(Thread thread) {
        String name = thread.getName();
        return name.isBlank() ? "#" + thread.getId() : Printable.of(name);
    }

    /**
     * Returns a factory that numbers its threads. Guava's builder would format the number, for which Java loads locale
     * data, and that takes longer than connecting.
     */
    private static ThreadFactory named(String prefix) {
        AtomicLong number = new AtomicLong();
        return task -> make(task, prefix.concat(String.valueOf(number.getAndIncrement())));
    }

    /**
     * Creates a thread that inherits nothing from the thread that happens to create it: no thread-locals, no class
     * loader and no priority. The new thread would keep them in memory as long as it is alive, and would pass them on
     * to the threads of ZooKeeper's client, which it creates.
     *
     * <p>Before JDK 24, a thread keeps the access control context in which it was created, and with it the class
     * loaders of all methods on the stack. A privileged action has a context of its own, so the thread is created in
     * one.
     */
    // As long as JDKs have that context, there is no other way to avoid it. The priority is the usual one.
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
