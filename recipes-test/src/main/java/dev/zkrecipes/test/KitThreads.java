// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.common.util.concurrent.Uninterruptibles;
import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.lang.Thread.UncaughtExceptionHandler;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads of one server or proxy, all daemons. ZooKeeper's server starts a dozen threads and waits for only some
 * of them. All of them inherit the group and the daemon flag of the thread that starts the server, so the group shows
 * when the last one has ended.
 */
final class KitThreads implements Executor {
    private static final Logger LOG = LoggerFactory.getLogger(KitThreads.class);
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final ThreadGroup group;
    private final AtomicInteger count = new AtomicInteger();

    KitThreads(String name) {
        group = new ThreadGroup(name);
    }

    /**
     * Runs an action on a thread of the group and waits for it. Neither the action nor the wait can be interrupted,
     * because an interruption makes ZooKeeper skip half of its shutdown.
     */
    <T> T run(String name, Callable<T> action) throws ExecutionException {
        FutureTask<T> task = new FutureTask<>(action);
        Thread thread = start(name, task);
        Uninterruptibles.joinUninterruptibly(thread);
        try {
            return task.get();
        } catch (InterruptedException e) {
            throw new AssertionError("nobody waits for a task that is done", e);
        }
    }

    /** Runs a task on a new thread. */
    @Override
    public void execute(Runnable task) {
        start(String.valueOf(count.incrementAndGet()), task);
    }

    @CanIgnoreReturnValue
    private Thread start(String name, Runnable task) {
        Thread thread = new Thread(group, task, group.getName() + "-" + name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Waits until all threads have ended. */
    void awaitEnd() {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        for (List<Thread> alive = alive(); !alive.isEmpty(); alive = alive()) {
            Duration left = Duration.ofNanos(deadline - System.nanoTime());
            if (left.isNegative()) {
                throw new IllegalStateException("threads of " + group.getName() + " still run " + LIMIT.toSeconds()
                        + " s after it was stopped: " + alive);
            }
            Uninterruptibles.joinUninterruptibly(alive.get(0), left);
        }
    }

    private List<Thread> alive() {
        Thread[] threads = new Thread[group.activeCount() + 16];
        return Arrays.asList(threads).subList(0, group.enumerate(threads));
    }

    /**
     * Loads ZooKeeper's connection factory, and restores the default handler of uncaught exceptions. When that class is
     * loaded, it makes itself the handler for the whole JVM, but a test server must not handle exceptions of other
     * code.
     */
    static synchronized void keepUncaughtExceptionHandler() {
        UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        try {
            MethodHandles.lookup().ensureInitialized(NIOServerCnxnFactory.class);
        } catch (IllegalAccessException e) {
            throw new AssertionError("the class is public", e);
        }
        if (Thread.getDefaultUncaughtExceptionHandler() != before) {
            Thread.setDefaultUncaughtExceptionHandler(before);
            LOG.debug("took back the default uncaught exception handler from ZooKeeper");
        }
    }
}
