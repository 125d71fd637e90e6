// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The time by which a call has to return. It is computed once, when the call begins, so that the steps of the call
 * share one limit. It uses the monotonic clock: setting the time of day does not move it. Messages name the
 * {@code timeout} of the call.
 */
public record Deadline(EngineScheduler clock, Duration timeout, long atNanos) {

    public static Deadline after(Duration timeout, EngineScheduler clock) {
        long nanos = TimeUnit.NANOSECONDS.convert(timeout); // saturates at 292 years
        return new Deadline(clock, timeout, clock.nanoTime() + Math.min(nanos, Long.MAX_VALUE / 2));
    }

    /** Returns the remaining nanoseconds; 0 or less if the deadline has passed. */
    public long remainingNanos() {
        return atNanos - clock.nanoTime();
    }

    /**
     * Returns a deadline that is later by {@code nanos}, to leave out time that does not count, such as that of user
     * code.
     */
    public Deadline later(long nanos) {
        return new Deadline(clock, timeout, atNanos + nanos);
    }
}
