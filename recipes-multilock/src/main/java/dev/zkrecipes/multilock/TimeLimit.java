// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** How long an acquire may take in all, on the monotonic clock; computed once and used by every wait. */
final class TimeLimit {
    static final TimeLimit NONE = new TimeLimit(null);

    private final @Nullable Long end;

    private TimeLimit(@Nullable Long end) {
        this.end = end;
    }

    static TimeLimit after(Duration timeout) {
        return new TimeLimit(System.nanoTime() + saturated(timeout));
    }

    /** Waits for the lock within the limit; empty if the limit is reached. */
    Optional<Lease> acquire(InterProcessLock lock) throws InterruptedException {
        if (end == null) {
            return Optional.of(lock.acquire());
        }
        Duration left = left(end);
        return left.isZero() ? Optional.empty() : lock.tryAcquire(left);
    }

    /** Pauses; returns whether any time is left after that. */
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

    /** A quarter of what a long can hold: more than seventy years, and safe to add. */
    private static long saturated(Duration timeout) {
        Duration longest = Duration.ofNanos(Long.MAX_VALUE / 4);
        return (timeout.compareTo(longest) < 0 ? timeout : longest).toNanos();
    }
}
