// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import com.google.common.base.Throwables;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The threads of a test, whose failures fail the test.
 *
 * <pre>{@code
 * try (Workers workers = new Workers()) {
 *     Thread waiter = workers.start("waiter", () -> lock.acquire());
 *     workers.start("holder", () -> held.close());
 *     workers.join(Duration.ofSeconds(10));
 * }
 * }</pre>
 *
 * <p>An uncaught exception of an ordinary thread goes to the JVM's handler of uncaught exceptions. No test checks that
 * handler, and ZooKeeper's server replaces it with one that only logs. Here the exception is kept, and thrown by
 * {@link #join} or {@link #close()}.
 *
 * <p>All threads are daemons. Instances are thread-safe.
 */
public final class Workers implements AutoCloseable {
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

    private final ThreadFactory factory;

    @GuardedBy("this")
    private final List<Thread> threads = new ArrayList<>();

    /** Failures that have not been thrown yet, in the order in which they happened. */
    @GuardedBy("this")
    private final List<Throwable> failures = new ArrayList<>();

    @GuardedBy("this")
    private boolean closing;

    /** Creates an empty group of platform threads. */
    public Workers() {
        this(Thread::new);
    }

    private Workers(ThreadFactory factory) {
        this.factory = factory;
    }

    /**
     * Creates an empty group of virtual threads. Uses reflection, because this code is compiled for a JDK without
     * virtual threads.
     *
     * @throws UnsupportedOperationException if this JDK is older than 21
     */
    public static Workers virtual() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            return new Workers((ThreadFactory) type.getMethod("factory").invoke(builder));
        } catch (ReflectiveOperationException e) {
            throw new UnsupportedOperationException("this JDK has no virtual threads", e);
        }
    }

    /**
     * Starts a thread.
     *
     * @throws IllegalStateException if the group is closed
     */
    public synchronized Thread start(String name, Body body) {
        if (closing) {
            throw new IllegalStateException("cannot start " + name + ": the group is closed");
        }
        Thread thread = factory.newThread(() -> run(body));
        thread.setName(name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
        return thread;
    }

    /**
     * Waits for all threads, including those that are started meanwhile. Throws their failures: the first one, with
     * the later ones suppressed in it. Runtime exceptions and errors are thrown as they are, others as the cause of
     * an {@link AssertionError}. Each failure is thrown once.
     *
     * @throws AssertionError if a thread is still running after that time. The message contains the stack traces, and
     *     the failures of other threads are suppressed in it. No thread is interrupted.
     */
    public void join(Duration limit) throws InterruptedException {
        List<Thread> late = awaitEnd(this::alive, limit);
        List<Throwable> thrown = takeFailures();
        if (!late.isEmpty()) {
            thrown.add(
                    0,
                    new AssertionError("still running after "
                            + MachineLoad.stretched(limit).toMillis() + " ms: " + describe(late)));
        }
        throwAll(thrown);
    }

    /**
     * Interrupts the threads that are still running, and waits for them for 10 s at most. Throws the failures that
     * {@link #join} has not thrown. Ignores failures that happen after this call began, because they may result from
     * the interrupts.
     *
     * @throws AssertionError if a thread does not end; the message contains the stack traces
     */
    @Override
    public void close() {
        List<Throwable> own;
        synchronized (this) {
            closing = true;
            own = takeFailures();
            alive().forEach(Thread::interrupt);
        }
        try {
            List<Thread> late = awaitEnd(this::alive, CLOSE_LIMIT);
            if (!late.isEmpty()) {
                own.add(new AssertionError("do not end when interrupted: " + describe(late)));
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

    private synchronized List<Thread> alive() {
        return threads.stream().filter(Thread::isAlive).toList();
    }

    private synchronized List<Throwable> takeFailures() {
        List<Throwable> taken = new ArrayList<>(failures);
        failures.clear();
        return taken;
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

    /**
     * Waits until there are no such threads any more, longer on a busy machine. Returns the threads that are still
     * alive.
     */
    static List<Thread> awaitEnd(Supplier<List<Thread>> living, Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + MachineLoad.stretched(limit).toNanos();
        List<Thread> left = living.get();
        while (!left.isEmpty() && System.nanoTime() - deadline < 0) {
            left.get(0).join(1 + Duration.ofNanos(deadline - System.nanoTime()).toMillis());
            left = living.get();
        }
        return left;
    }

    /** Returns the names, states and stack traces of threads, for messages. */
    static String describe(List<Thread> threads) {
        return threads.stream()
                .map(thread -> "\n    \"" + thread.getName() + "\" " + thread.getState()
                        + Arrays.stream(thread.getStackTrace())
                                .map(frame -> "\n        at " + frame)
                                .collect(Collectors.joining()))
                .collect(Collectors.joining());
    }

    /** What a worker does. */
    @FunctionalInterface
    public interface Body {
        /**
         * Does the work.
         *
         * @throws Exception to fail the test
         */
        void run() throws Exception;
    }
}
