// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** The thin wait of the blocking API over the asynchronous engine. */
public final class Blocking {
    private static final Duration FOR_EVER = Duration.ofNanos(Long.MAX_VALUE);
    private static final String EVENT_THREAD = "org.apache.zookeeper.ClientCnxn$EventThread";

    private Blocking() {}

    public static void requireNotNegative(Duration timeout) {
        Objects.requireNonNull(timeout, "the time-out is null: give a duration, zero for none");
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("negative time-out " + timeout);
        }
    }

    /** Whether the caller may wait for this engine, if any: on the threads that feed it, it would wait for itself. */
    public static boolean mayBlock(@Nullable EngineScheduler engine) {
        return !isEventThread() && (engine == null || !engine.isEngineThread());
    }

    public static boolean isEventThread() {
        return Thread.currentThread().getClass().getName().equals(EVENT_THREAD);
    }

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

    /** Waits for the future; empty if the deadline passes first. The future's LockException is thrown here. */
    public static <T> Optional<T> await(CompletableFuture<T> future, Deadline deadline) throws InterruptedException {
        return deadline.clock().await(future, left(deadline)) ? Optional.of(valueOf(future)) : Optional.empty();
    }

    public static <T> T await(CompletableFuture<T> future, EngineScheduler clock) throws InterruptedException {
        while (!clock.await(future, FOR_EVER)) {}
        return valueOf(future);
    }

    /** Waits for a future that may be waited for any number of times: a wait that is over leaves nothing in it. */
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

    @SuppressWarnings("NullAway") // the future has ended
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

    /** Waits, whatever the future's end, and keeps the interrupt flag. */
    public static void awaitQuietly(CompletableFuture<?> future, Deadline deadline) {
        uninterruptibly(() -> deadline.clock().await(future, left(deadline)));
    }

    private static Duration left(Deadline deadline) {
        return Duration.ofNanos(Math.max(0, deadline.remainingNanos()));
    }

    /** Throws the LockException that the future has ended with by now, if it has. */
    public static void throwFailure(CompletableFuture<?> future) {
        if (future.isCompletedExceptionally()) {
            var unused = valueOf(future);
        }
    }

    @FunctionalInterface
    public interface Wait<T> {
        T await() throws InterruptedException;
    }

    /** Waits again after every interruption, and restores the flag at the end. */
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

    /** An engine's error with the stack trace of the thread that it is told to. Every error is told to one thread. */
    private static RuntimeException here(@Nullable Throwable failure) {
        if (failure instanceof LockException known) {
            known.fillInStackTrace();
            return known;
        }
        return new LockException(
                "the lock engine failed; please report this with the stack trace", Objects.requireNonNull(failure));
    }
}
