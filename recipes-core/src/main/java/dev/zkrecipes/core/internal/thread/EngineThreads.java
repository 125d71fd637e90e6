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
 * Makes all threads of this library, in one place. All of them are daemons: an application that ends does not wait
 * for a lock.
 */
public final class EngineThreads {
    private static final long IDLE_SECONDS = 5; // before a thread of a pool ends

    private EngineThreads() {}

    /** The own thread of a client's engine, not started yet. */
    public static Thread engine(Runnable loop) {
        return named("zkrecipes-engine-").newThread(loop);
    }

    /** A pool whose threads all end when they are idle, so that a client at rest keeps none. */
    static ThreadPoolExecutor idling(int threads, String prefix) {
        ThreadPoolExecutor executor = new ThreadPoolExecutor(
                threads, Integer.MAX_VALUE, IDLE_SECONDS, SECONDS, new LinkedBlockingQueue<>(), named(prefix));
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** The thread that the JVM starts when it shuts down, not started yet. */
    public static Thread atShutdown(Runnable task) {
        return make(task, "zkrecipes-shutdown");
    }

    /** Runs a task, which may block for as long as it likes, on a thread of its own. */
    public static void start(String prefix, Runnable task) {
        named(prefix).newThread(task).start();
    }

    /**
     * What messages call a thread: its name, fit to print. A thread without a name, as most virtual threads are, is
     * called by {@code #} and its id.
     */
    public static String nameOf(Thread thread) {
        String name = thread.getName();
        return name.isBlank() ? "#" + thread.getId() : Printable.of(name);
    }

    /**
     * Numbers the threads of a prefix. Guava's builder would format the number, for which Java loads the data of a
     * locale, and that takes longer than to connect.
     */
    private static ThreadFactory named(String prefix) {
        AtomicLong number = new AtomicLong();
        return task -> make(task, prefix.concat(String.valueOf(number.getAndIncrement())));
    }

    /**
     * Makes a thread that takes over nothing from the thread that happens to need it first: no thread-locals, no
     * class loader and no priority. The new thread would keep them in memory for as long as it lives, and pass them
     * on: these threads create those of ZooKeeper's client.
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
