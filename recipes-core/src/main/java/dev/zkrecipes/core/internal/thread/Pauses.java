// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import com.google.common.math.LongMath;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The pauses of one client's tasks before they try again. Each task's pauses double up to a limit ({@link Backoff}), and
 * each ends in its second half. When, is random: clients that have lost the same server do not return together. But
 * pauses of this client end together if they may. So what a thousand tasks need after one lost answer is asked for once,
 * and not a thousand times within a few milliseconds.
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

    /** The pauses of one task. */
    public Backoff newBackoff() {
        return new Backoff(this);
    }

    /**
     * Runs a task when a pause is over.
     *
     * @param doublings how often the pause is twice as long as the one before
     */
    Timer begin(int doublings, Runnable task) {
        long full = Math.min(longestNanos, LongMath.saturatedMultiply(firstNanos, 1L << doublings));
        End end = endIn(full - full / 2, full);
        Waiting waiting = new Waiting(task);
        end.waiting.add(waiting);
        return () -> end.remove(waiting);
    }

    private End endIn(long shortest, long longest) {
        long now = scheduler.nanoTime();
        for (int i = 0; i < ends.size(); i++) {
            long left = ends.get(i).at - now;
            if (left >= shortest && left <= longest) {
                return ends.get(i);
            }
        }
        long pause = longest - scheduler.random().nextLong(longest - shortest + 1);
        End end = new End(now + pause);
        end.alarm = scheduler.schedule(Duration.ofNanos(pause), end::come);
        ends.add(end);
        return end;
    }

    /** How many different times pauses end at. */
    int ends() {
        return ends.size();
    }

    /** A task that waits. Each is another one, even if they run the same. */
    private static final class Waiting {
        private final Runnable task;

        Waiting(Runnable task) {
            this.task = task;
        }
    }

    /** When some pauses end. */
    private final class End {
        private final long at;
        private final Set<Waiting> waiting = new LinkedHashSet<>();
        private @Nullable Timer alarm;

        End(long at) {
            this.at = at;
        }

        void come() {
            ends.remove(this);
            for (Waiting next : List.copyOf(waiting)) {
                if (waiting.remove(next)) { // one that has run may have called off another
                    Guarded.run(next.task);
                }
            }
        }

        void remove(Waiting one) {
            waiting.remove(one);
            if (waiting.isEmpty() && ends.remove(this) && alarm != null) {
                alarm.cancel();
            }
        }
    }
}
