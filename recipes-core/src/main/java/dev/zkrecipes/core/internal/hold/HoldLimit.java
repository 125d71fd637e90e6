// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * How long one holder may keep what it has acquired, see {@code LockOptions.withHoldAtMost}. Whoever asks for the
 * state of a lease reads the clock here, so a lease is lost in time even if no thread has come to its timer. The
 * first who sees that the time is over records it, so that a prolongation that comes later does not revive the hold.
 * Any thread.
 */
public final class HoldLimit {
    private final EngineScheduler scheduler;
    private final long beganAt; // by the engine's clock
    private final AtomicLong endsAfter; // nanoseconds since it began; negated once somebody has seen that it is over
    private volatile @Nullable Timer timer; // ends the hold at its limit even if no caller looks at it
    private volatile boolean changed; // whether a call has set another time than the options, for the message

    HoldLimit(EngineScheduler scheduler, Duration most) {
        this(scheduler, scheduler.nanoTime(), most.toNanos(), false);
    }

    private HoldLimit(EngineScheduler scheduler, long beganAt, long endsAfter, boolean changed) {
        this.scheduler = scheduler;
        this.beganAt = beganAt;
        this.endsAfter = new AtomicLong(endsAfter);
        this.changed = changed;
    }

    /** The limit of a hold of these locks that begins now; null if their options set none. */
    public static @Nullable HoldLimit of(LockGroup group, EngineScheduler scheduler) {
        return group.holdAtMost().map(most -> new HoldLimit(scheduler, most)).orElse(null);
    }

    /** A limit with the same end, for a node that continues the hold in another mode; null if there is none. */
    public static @Nullable HoldLimit withEndOf(@Nullable HoldLimit limit) {
        return limit == null
                ? null
                : new HoldLimit(limit.scheduler, limit.beganAt, limit.endsAfter.get(), limit.changed);
    }

    /**
     * Sets the timer, which runs the task on the engine thread when the time is over. After a change of the time it
     * is called again, on the engine thread, so that no two calls meet.
     */
    public void begin(Runnable onOver) {
        end();
        timer = scheduler.schedule(Duration.ofNanos(Math.max(0, endsAfter.get() - held())), onOver);
    }

    private long held() {
        return scheduler.nanoTime() - beganAt;
    }

    /** Whether the time is over. If the end was changed while this call compared, it looks again. */
    public boolean isOver() {
        long ends = endsAfter.get();
        return ends < 0 || (held() >= ends && (endsAfter.compareAndSet(ends, -ends) || isOver()));
    }

    /** Sets the time that is left, unless it is over. Then the engine runs the task, which sets the timer anew. */
    void change(Duration left, Runnable begin) {
        long ends = held() + left.toNanos();
        if (endsAfter.updateAndGet(last -> last < 0 ? last : ends) > 0) {
            changed = true;
            scheduler.execute(begin);
        }
    }

    /** Cancels the timer: the hold has ended, or gets another timer. */
    public void end() {
        Timer running = timer;
        if (running != null) {
            running.cancel();
        }
    }

    /** Why the hold was lost. It names the setting that determined the time. */
    public String reason() {
        return "it was held for " + Duration.ofNanos(Math.abs(endsAfter.get())) + ", the most that its "
                + (changed ? "Lease.prolong" : "LockOptions.withHoldAtMost") + " allows";
    }
}
