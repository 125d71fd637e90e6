// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import com.google.common.math.LongMath;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * The pauses of one client's tasks between their attempts. The pauses of a task double up to a limit. Each pause ends
 * at a random time in its second half, so that clients that have lost the same server do not all return at once.
 *
 * <p>Within a client the opposite is wanted: pauses of the same length end together if they can. So what a thousand
 * tasks need after one lost answer is requested once, rather than a thousand times within a few milliseconds. Confined
 * to the engine thread.
 */
public final class Pauses {
    private static final int MOST_DOUBLINGS = 40; // keeps the shift within a long

    private final EngineScheduler scheduler;
    private final long firstNanos;
    private final long longestNanos;
    private final Map<Long, Long> nextEnds = new HashMap<>(); // when the latest pause of each length ends

    public Pauses(EngineScheduler scheduler, Duration first, Duration longest) {
        this.scheduler = scheduler;
        this.firstNanos = first.toNanos();
        this.longestNanos = longest.toNanos();
    }

    /**
     * Runs a task after a pause. {@code earlier} is the number of pauses that this task has had since its last
     * success; the task itself counts them. The pause ends together with the latest one of its length, if that ends
     * in the second half of this pause.
     */
    public Timer begin(int earlier, Runnable task) {
        long doubled = 1L << Math.min(earlier, MOST_DOUBLINGS);
        long length = Math.min(longestNanos, LongMath.saturatedMultiply(firstNanos, doubled));
        long now = scheduler.nanoTime();
        long left = nextEnds.getOrDefault(length, now) - now;
        if (left < length - length / 2 || left > length) {
            left = length - scheduler.random().nextLong(length / 2 + 1);
            nextEnds.put(length, now + left);
        }
        return scheduler.schedule(Duration.ofNanos(left), task);
    }
}
