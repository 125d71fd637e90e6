// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import com.google.common.math.LongMath;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The pauses of one client's tasks before they try again. Each task's pauses double up to a limit ({@link Backoff}),
 * and each ends in its second half, at a random time: clients that have lost the same server do not return together.
 * But pauses of this client end together if they may. So what a thousand tasks need after one lost answer is asked for
 * once, and not a thousand times within a few milliseconds.
 *
 * <p>Confined to the engine thread.
 */
public final class Pauses {
    private final EngineScheduler scheduler;
    private final long firstNanos;
    private final long longestNanos;
    private final List<End> ends = new ArrayList<>(); // in no order; a few for each length of a pause

    public Pauses(EngineScheduler scheduler, Duration first, Duration longest) {
        this.scheduler = scheduler;
        this.firstNanos = first.toNanos();
        this.longestNanos = longest.toNanos();
    }

    /** Runs a task when a pause is over, which is the first one doubled that many times. */
    Timer begin(int doublings, Runnable task) {
        long full = Math.min(longestNanos, LongMath.saturatedMultiply(firstNanos, 1L << doublings));
        End end = endIn(full - full / 2, full);
        Object key = new Object();
        end.waiting.put(key, task);
        return () -> end.remove(key);
    }

    private End endIn(long shortest, long longest) {
        long now = scheduler.nanoTime();
        for (int i = 0; i < ends.size(); i++) {
            long left = ends.get(i).at - now;
            if (left >= shortest && left <= longest) {
                return ends.get(i);
            }
        }
        End end = new End(now, longest - scheduler.random().nextLong(longest - shortest + 1));
        ends.add(end);
        return end;
    }

    /** How many different times pauses end at. */
    int ends() {
        return ends.size();
    }

    /** When some pauses end. */
    private final class End {
        private final long at;
        private final Timer alarm;
        private final Map<Object, Runnable> waiting = new LinkedHashMap<>();

        End(long now, long pause) {
            this.at = now + pause;
            this.alarm = scheduler.schedule(Duration.ofNanos(pause), this::come);
        }

        private void come() {
            ends.remove(this);
            while (!waiting.isEmpty()) { // one that has run may have called off another
                Iterator<Runnable> next = waiting.values().iterator();
                Runnable task = next.next();
                next.remove();
                task.run();
            }
        }

        void remove(Object key) {
            if (waiting.remove(key) != null && waiting.isEmpty() && ends.remove(this)) {
                alarm.cancel();
            }
        }
    }
}
