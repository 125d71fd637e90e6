// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import com.google.common.base.Throwables;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a test, whose failures fail the test.
 *
 * <pre>{@code
 * try (Workers workers = new Workers()) {
 *     Worker waiter = workers.start("waiter", () -> lock.acquire());
 *     workers.start("holder", () -> held.close());
 *     workers.join(Duration.ofSeconds(10));
 * }
 * }</pre>
 *
 * <p>An exception that leaves a plain thread ends in the uncaught-exception handler of the JVM, which no test checks
 * and which ZooKeeper's server replaces by one that writes a log line. Here it is kept, and thrown by {@link #join} or
 * {@link #close()}.
 *
 * <p>All threads are daemons. Instances are thread-safe.
 */
public final class Workers implements AutoCloseable {
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

    private final ThreadFactory factory;

    @GuardedBy("this")
    private final List<Worker> workers = new ArrayList<>();

    /** Failures that were not thrown yet, in the order in which they happened. */
    @GuardedBy("this")
    private final List<Throwable> failures = new ArrayList<>();

    @GuardedBy("this")
    private boolean closing;

    /** Makes an empty group of platform threads. */
    public Workers() {
        this(Workers::newDaemon);
    }

    private Workers(ThreadFactory factory) {
        this.factory = factory;
    }

    /**
     * Makes an empty group of virtual threads, which JDK 21 and later have.
     *
     * @throws UnsupportedOperationException if this JDK has none; see {@link #hasVirtualThreads()}
     */
    public static Workers virtual() {
        return new Workers(VirtualThreads.factory());
    }

    /** Tells whether this JDK has virtual threads. */
    public static boolean hasVirtualThreads() {
        return VirtualThreads.exist();
    }

    /**
     * Starts a thread.
     *
     * @throws IllegalStateException if the group is closed
     */
    public synchronized Worker start(String name, Body body) {
        if (closing) {
            throw new IllegalStateException("cannot start " + name + ": the group is closed");
        }
        Thread thread = factory.newThread(() -> run(body));
        thread.setName(name);
        Worker worker = new Worker(thread);
        workers.add(worker);
        thread.start();
        return worker;
    }

    /**
     * Waits for all threads, those too that are started meanwhile, and throws what they threw: the first failure, with
     * the later ones suppressed in it. Runtime exceptions and errors are thrown as they are, others as the cause of an
     * {@link AssertionError}. Failures are thrown once.
     *
     * @throws AssertionError if a thread still runs after that time; it names the threads and where they are, and has
     *     the failures of the others as suppressed. Nothing is interrupted.
     */
    public void join(Duration limit) throws InterruptedException {
        List<Worker> late = await(limit);
        if (!late.isEmpty()) {
            AssertionError error = new AssertionError("still running after " + limit.toMillis() + " ms: "
                    + late.stream().map(Worker::describe).collect(Collectors.joining("\n    ", "\n    ", "")));
            takeFailures().forEach(error::addSuppressed);
            throw error;
        }
        throwFailures();
    }

    /**
     * Interrupts the threads that still run and waits for them, 10 s at most. Throws the failures that {@link #join}
     * has not thrown, except those of threads that were interrupted here: after a test that has failed, they mean
     * nothing.
     *
     * @throws AssertionError if a thread does not end; it names the threads and where they are
     */
    @Override
    public void close() {
        List<Throwable> own;
        synchronized (this) {
            closing = true;
            own = new ArrayList<>(failures);
            failures.clear();
            workers.stream().filter(Worker::isAlive).forEach(Worker::interrupt);
        }
        try {
            List<Worker> late = await(CLOSE_LIMIT);
            if (!late.isEmpty()) {
                own.add(new AssertionError("do not end when interrupted: "
                        + late.stream().map(Worker::describe).collect(Collectors.joining("\n    ", "\n    ", ""))));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throwAll(own);
    }

    private void run(Body body) {
        try {
            body.run();
        } catch (Throwable failure) {
            synchronized (this) {
                if (!closing) {
                    failures.add(failure);
                }
            }
        }
    }

    /** Returns the threads that have not ended in time. */
    private List<Worker> await(Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        for (int i = 0; ; i++) {
            Worker worker = get(i);
            if (worker == null) {
                return List.of();
            }
            if (!worker.join(Duration.ofNanos(deadline - System.nanoTime()))) {
                return alive();
            }
        }
    }

    private synchronized @Nullable Worker get(int index) {
        return index < workers.size() ? workers.get(index) : null;
    }

    private synchronized List<Worker> alive() {
        return workers.stream().filter(Worker::isAlive).toList();
    }

    private synchronized List<Throwable> takeFailures() {
        List<Throwable> taken = List.copyOf(failures);
        failures.clear();
        return taken;
    }

    private void throwFailures() {
        throwAll(takeFailures());
    }

    private static void throwAll(List<Throwable> failures) {
        if (failures.isEmpty()) {
            return;
        }
        Throwable first = failures.get(0);
        failures.stream().skip(1).filter(failure -> failure != first).forEach(first::addSuppressed);
        Throwables.throwIfUnchecked(first);
        throw new AssertionError("a worker failed: " + first, first);
    }

    private static Thread newDaemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    }

    /** What a worker does. */
    @FunctionalInterface
    public interface Body {
        /**
         * Does it.
         *
         * @throws Exception to fail the test
         */
        void run() throws Exception;
    }

    /** Virtual threads, found by reflection: this code is compiled for a JDK that has none. */
    private static final class VirtualThreads {
        private static final int FIRST_JDK = 21;

        private VirtualThreads() {}

        static boolean exist() {
            return Runtime.version().feature() >= FIRST_JDK;
        }

        static ThreadFactory factory() {
            if (!exist()) {
                throw new UnsupportedOperationException(
                        "JDK " + Runtime.version().feature()
                                + " has no virtual threads; ask Workers.hasVirtualThreads() first");
            }
            try {
                Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
                Method factory = Class.forName("java.lang.Thread$Builder").getMethod("factory");
                return (ThreadFactory) factory.invoke(builder);
            } catch (NoSuchMethodException
                    | ClassNotFoundException
                    | IllegalAccessException
                    | InvocationTargetException e) {
                throw new UnsupportedOperationException("cannot make virtual threads on this JDK", e);
            }
        }
    }
}
