// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import com.google.common.math.LongMath;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

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

    /** The pauses of one task. */
    public Backoff newBackoff() {
        return new Backoff(this);
    }

    /**
     * Runs a task when a pause is over.
     *
     * @param doublings how many times the first pause has doubled
     */
    Timer begin(int doublings, Runnable task) {
        long full = Math.min(longestNanos, LongMath.saturatedMultiply(firstNanos, 1L << doublings));
        End end = endIn(full - full / 2, full);
        Waiting waiting = new Waiting(task);
        Timer timer = () -> end.remove(waiting); // made first: without memory for it the task does not wait
        end.add(waiting);
        return timer;
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

    /** A task that waits. */
    private static final class Waiting {
        private @Nullable Runnable task; // none once it has been taken or called off

        Waiting(Runnable task) {
            this.task = task;
        }

        @Nullable
        Runnable take() {
            Runnable taken = task;
            task = null;
            return taken;
        }
    }

    /** When some pauses end. */
    private final class End {
        private final long at;
        private final Deque<Waiting> waiting = new ArrayDeque<>();
        private int left; // of them, without those that were called off
        private @Nullable Timer alarm;

        End(long at) {
            this.at = at;
        }

        void add(Waiting one) {
            waiting.add(one);
            left++;
        }

        void come() {
            ends.remove(this);
            for (Waiting next = waiting.poll(); next != null; next = waiting.poll()) {
                Runnable task = next.take();
                if (task != null) { // one that has run may have called off another
                    task.run();
                }
            }
        }

        void remove(Waiting one) {
            if (one.take() != null && --left == 0 && ends.remove(this) && alarm != null) {
                alarm.cancel();
            }
        }
    }
}
