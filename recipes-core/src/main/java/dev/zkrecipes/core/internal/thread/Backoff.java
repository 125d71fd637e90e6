// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import com.google.common.math.LongMath;
import java.time.Duration;
import java.util.random.RandomGenerator;

/** Delays that double up to a limit, each shortened by a random part of up to a half. */
public final class Backoff {
    private final long firstNanos;
    private final long longestNanos;
    private final RandomGenerator random;
    private int step;

    public Backoff(Duration first, Duration longest, RandomGenerator random) {
        this.random = random;
        this.firstNanos = first.toNanos();
        this.longestNanos = longest.toNanos();
    }

    public Duration next() {
        long full = Math.min(longestNanos, LongMath.saturatedMultiply(firstNanos, 1L << Math.min(step++, 40)));
        return Duration.ofNanos(full - random.nextLong(full / 2 + 1));
    }

    public void reset() {
        step = 0;
    }
}
