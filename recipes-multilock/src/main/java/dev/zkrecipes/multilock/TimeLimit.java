// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import com.google.common.base.Throwables;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.spi.LockParts;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The time limit of an acquire, on the monotonic clock. It is computed once and used by every wait. */
final class TimeLimit {
    /**
     * How long an observation that a lock is busy stays valid. If less than this time is left, it may be too short for
     * an answer.
     */
    private static final Duration RECENTLY = Duration.ofMillis(500);

    private static final Duration PAUSE = Duration.ofMillis(100);

    private final @Nullable Long end;
    // The following fields describe the lock that was tried last. Only the waiting thread uses them.
    private @Nullable LockConnectionException unanswered;
    private @Nullable Long seenBusyAt;
    private boolean waited; // whether it took long to acquire the last granted lock, because it was busy

    private TimeLimit(@Nullable Long end) {
        this.end = end;
    }

    static TimeLimit none() {
        return new TimeLimit(null);
    }

    static TimeLimit after(Duration timeout) {
        return new TimeLimit(System.nanoTime() + saturated(timeout));
    }

    /** Acquires the lock, and waits for it and for its connection within the limit; empty if the limit is reached. */
    Optional<Lease> acquire(InterProcessLock lock) throws InterruptedException {
        while (true) {
            Duration left = end == null ? null : left(end);
            if (left != null && left.isZero()) {
                return Optional.empty();
            }
            long asked = System.nanoTime();
            try {
                Optional<Lease> lease = left == null ? Optional.of(lock.acquire()) : lock.tryAcquire(left);
                unanswered = null;
                waited = System.nanoTime() - asked > RECENTLY.toNanos();
                return lease;
            } catch (LockConnectionException e) {
                if (left != null && !isBusyStill() && !isLate(left)) {
                    unanswered = e;
                }
            }
            var unused = pause(PAUSE); // a lock of another library may report a missing connection at once
        }
    }

    private boolean isBusyStill() {
        return seenBusyAt != null && System.nanoTime() - seenBusyAt < RECENTLY.toNanos();
    }

    /** Whether the time was spent waiting for another, busy lock, and the rest may be too short for an answer. */
    private boolean isLate(Duration left) {
        return waited && left.compareTo(RECENTLY) < 0;
    }

    /** Acquires the lock if it is free; empty if it is not, or if that cannot be found out within the limit. */
    Optional<Lease> tryAtOnce(InterProcessLock lock) {
        Duration left = end == null ? null : left(end);
        try {
            if (left == null) {
                return lock.tryAcquire();
            }
            unanswered = null;
            seenBusyAt = null;
            Optional<Lease> lease = LockParts.tryAtOnce(lock, left);
            if (lease.isEmpty()) {
                seenBusyAt = System.nanoTime();
            }
            return lease;
        } catch (LockConnectionException e) {
            if (left != null && !isLate(left)) {
                unanswered = e;
            }
            return Optional.empty(); // the caller then waits for the lock, and so for its connection
        }
    }

    /**
     * Called when the limit is reached. Returns empty if a lock was seen busy; otherwise throws the exception that says
     * why that could not be seen.
     */
    <T> Optional<T> overdue() {
        LockConnectionException known = unanswered;
        if (known != null) {
            throw known;
        }
        return Optional.empty();
    }

    /** Releases all leases, and waits for that as long as the limit allows. */
    void giveBack(List<Lease> leases) throws InterruptedException {
        if (end == null) {
            LockParts.closeAll(leases);
            return;
        }
        List<CompletableFuture<Void>> closes = MixedHold.beginClosing(leases);
        CompletableFuture<Void> givenBack = MixedHold.allOf(closes);
        CountDownLatch over = new CountDownLatch(1); // only parks; the future's get() might run other tasks
        var unused = givenBack.whenComplete((nothing, failure) -> over.countDown());
        if (!over.await(left(end).toNanos(), TimeUnit.NANOSECONDS)) {
            return; // the release continues in the background; waiters for these locks wait for it
        }
        Throwable first = null;
        for (CompletableFuture<Void> close : closes) {
            Throwable failure = failureOf(close);
            first = failure == null ? first : MixedHold.with(first, failure);
        }
        if (first != null) {
            Throwables.throwIfUnchecked(first);
            throw new LockException("cannot release the members that were tried", first);
        }
    }

    private static @Nullable Throwable failureOf(CompletableFuture<Void> ended) {
        try {
            ended.getNow(null);
            return null;
        } catch (CompletionException e) {
            return Objects.requireNonNullElse(e.getCause(), e);
        } catch (CancellationException e) {
            return e;
        }
    }

    /**
     * Releases all leases of a request that has failed, and waits for that as long as the limit allows. What fails here
     * is added to the failure of the request. An interruption ends the wait; the interrupt flag is set again.
     */
    void giveBackAfter(Throwable failure, List<Lease> leases) {
        try {
            giveBack(leases);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            var unused = MixedHold.with(failure, e);
        }
    }

    /** Pauses. Returns whether any time is left after that. */
    boolean pause(Duration pause) throws InterruptedException {
        if (end == null) {
            TimeUnit.NANOSECONDS.sleep(pause.toNanos());
            return true;
        }
        Duration left = left(end);
        TimeUnit.NANOSECONDS.sleep(Math.min(pause.toNanos(), left.toNanos()));
        return !left(end).isZero();
    }

    private static Duration left(long end) {
        return Duration.ofNanos(Math.max(0, end - System.nanoTime()));
    }

    /** Returns the nanoseconds, but at most a quarter of the largest long: more than seventy years, and safe to add. */
    private static long saturated(Duration timeout) {
        Duration longest = Duration.ofNanos(Long.MAX_VALUE / 4);
        return (timeout.compareTo(longest) < 0 ? timeout : longest).toNanos();
    }
}
