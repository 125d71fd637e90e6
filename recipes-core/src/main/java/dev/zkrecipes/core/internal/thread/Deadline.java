// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The moment at which a call ends, computed once at its entry, on the monotonic clock. */
public record Deadline(EngineScheduler clock, long atNanos) {

    public static Deadline after(Duration timeout, EngineScheduler clock) {
        long nanos = TimeUnit.NANOSECONDS.convert(timeout); // at most 292 years
        return new Deadline(clock, clock.nanoTime() + Math.min(nanos, Long.MAX_VALUE / 2));
    }

    /** Nanoseconds left; 0 or less when it has passed. */
    public long remainingNanos() {
        return atNanos - clock.nanoTime();
    }

    public Deadline later(long nanos) {
        return new Deadline(clock, atNanos + nanos);
    }
}
