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
 * The pauses of one client's tasks before they try again. Each task's pauses double up to a limit, and each ends in its
 * second half, at a random time: clients that have lost the same server do not return together. But pauses of this
 * client that are of one length end together if they may. So what a thousand tasks need after one lost answer is asked
 * for once, and not a thousand times within a few milliseconds. Confined to the engine thread.
 */
public final class Pauses {
    private static final int MOST_DOUBLINGS = 40;

    private final EngineScheduler scheduler;
    private final long firstNanos;
    private final long longestNanos;
    private final Map<Long, Long> nextEnds = new HashMap<>(); // by length

    public Pauses(EngineScheduler scheduler, Duration first, Duration longest) {
        this.scheduler = scheduler;
        this.firstNanos = first.toNanos();
        this.longestNanos = longest.toNanos();
    }

    /** Runs a task after a pause. The task counts its {@code earlier} ones, since things last went well. */
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
