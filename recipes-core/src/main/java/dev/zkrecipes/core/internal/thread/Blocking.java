// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Lets a thread of the application wait for the asynchronous engine. The blocking API of this library consists of
 * such waits; the engine itself never blocks. All methods run on the calling thread.
 */
public final class Blocking {
    private static final Duration FOR_EVER = Duration.ofNanos(Long.MAX_VALUE);
    private static final String EVENT_THREAD = "org.apache.zookeeper.ClientCnxn$EventThread";

    private Blocking() {}

    /** Throws a NullPointerException if the time-out is null, an IllegalArgumentException if it is negative. */
    public static void requireNotNegative(Duration timeout) {
        Objects.requireNonNull(timeout, "the time-out is null: give a duration, zero for none");
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("negative time-out " + timeout);
        }
    }

    /**
     * Whether the calling thread may wait for the engine; {@code engine} is null for a lock without an engine of ours.
     * A thread that feeds the engine would wait for itself: the engine thread, and the event thread of any ZooKeeper
     * handle, because this engine may use that very handle.
     */
    public static boolean mayBlock(@Nullable EngineScheduler engine) {
        return !isEventThread() && (engine == null || !engine.isEngineThread());
    }

    /**
     * Whether the caller is the event thread of a ZooKeeper handle. The class of that thread is not public, so it is
     * recognised by name.
     */
    public static boolean isEventThread() {
        return Thread.currentThread().getClass().getName().equals(EVENT_THREAD);
    }

    /** Throws an IllegalStateException on a thread that would wait for itself, which would be a deadlock. */
    public static void requireMayBlock(@Nullable EngineScheduler engine) {
        if (!mayBlock(engine)) {
            throw new IllegalStateException("a blocking lock call on thread "
                    + EngineThreads.nameOf(Thread.currentThread())
                    + " would wait for itself: use acquireAsync or closeAsync, or call from another thread");
        }
    }

    public static void throwIfInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    /**
     * Waits for the future and returns its value, or empty if the deadline passes first. If the future fails, throws
     * its exception.
     */
    public static <T> Optional<T> await(CompletableFuture<T> future, Deadline deadline) throws InterruptedException {
        return deadline.clock().await(future, left(deadline)) ? Optional.of(valueOf(future)) : Optional.empty();
    }

    /** Waits for the future without a time limit. */
    public static <T> T await(CompletableFuture<T> future, EngineScheduler clock) throws InterruptedException {
        while (!clock.await(future, FOR_EVER)) {}
        return valueOf(future);
    }

    /**
     * Waits for a future that is awaited repeatedly, such as that of a connection. A plain wait leaves a dependent
     * stage in the future when its deadline passes, and such stages would accumulate; {@code anyOf} removes its own.
     */
    @SuppressWarnings({"unchecked", "NullAway"}) // nobody sees the value of the limit
    public static <T> Optional<T> awaitAgain(CompletableFuture<T> future, Deadline deadline)
            throws InterruptedException {
        CompletableFuture<T> limit = new CompletableFuture<>();
        try {
            return await((CompletableFuture<T>) CompletableFuture.anyOf(future, limit), deadline);
        } finally {
            limit.complete(null);
        }
    }

    /** Returns the value of a completed future, or throws its exception. */
    @SuppressWarnings("NullAway") // the future is completed, so the default is not used
    private static <T> T valueOf(CompletableFuture<T> done) {
        try {
            return done.getNow(null);
        } catch (CompletionException e) {
            if (e.getCause() instanceof CancellationException cancelled) {
                throw cancelled;
            }
            throw here(e.getCause());
        }
    }

    /**
     * Waits until the future completes, with whatever outcome, or the deadline passes. An interruption does not end the
     * wait; the interrupt flag is kept.
     */
    public static void awaitQuietly(CompletableFuture<?> future, Deadline deadline) {
        uninterruptibly(() -> deadline.clock().await(future, left(deadline)));
    }

    /** Returns the remaining time, never negative, as the scheduler requires it. */
    private static Duration left(Deadline deadline) {
        return Duration.ofNanos(Math.max(0, deadline.remainingNanos()));
    }

    /**
     * Throws the exception of the future if it has failed by now with a refusal. Does not wait. That the client was
     * closed before the outcome was known is no refusal, but the same as a wait that ends without an answer.
     */
    public static void throwRefusal(CompletableFuture<?> future) {
        if (future.isCompletedExceptionally()) {
            try {
                var unused = valueOf(future);
            } catch (LockConnectionException e) {
                return;
            }
        }
    }

    /** An interruptible wait. */
    @FunctionalInterface
    public interface Wait<T> {
        T await() throws InterruptedException;
    }

    /** Waits, and waits again after each interruption. Restores the interrupt flag at the end. */
    public static <T> T uninterruptibly(Wait<T> wait) {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return wait.await();
                } catch (InterruptedException e) {
                    interrupted = true;
                    var unused = Thread.interrupted(); // Curator sets the flag again: the next wait would end at once
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Prepares an error of the engine for the calling thread: replaces its stack trace by that of the caller, which
     * shows the user where the call was made. This is safe because every error is thrown on one thread only.
     */
    private static RuntimeException here(@Nullable Throwable failure) {
        if (failure instanceof LockException known) {
            known.fillInStackTrace();
            return known;
        }
        return new LockException(
                "the lock engine failed; please report this with the stack trace", Objects.requireNonNull(failure));
    }
}
