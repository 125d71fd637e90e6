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
 * Limits how long a holder may keep what it has acquired, see {@code LockOptions.withHoldAtMost}. Each query for the
 * state of a lease reads the clock here, so a lease is lost in time even if its timer is late. The first thread to see
 * that the time has elapsed records this, so that a later prolongation does not revive the hold. Thread-safe.
 */
public final class HoldLimit {
    private final EngineScheduler scheduler;
    private final long beganAt; // by the engine's clock
    private final AtomicLong endsAfter; // nanoseconds after beganAt; negated once seen to have elapsed
    private volatile @Nullable Timer timer; // ends the hold at its limit even if no thread queries it
    private volatile boolean changed; // whether Lease.prolong has set the time; for the message

    HoldLimit(EngineScheduler scheduler, Duration most) {
        this(scheduler, scheduler.nanoTime(), most.toNanos(), false);
    }

    private HoldLimit(EngineScheduler scheduler, long beganAt, long endsAfter, boolean changed) {
        this.scheduler = scheduler;
        this.beganAt = beganAt;
        this.endsAfter = new AtomicLong(endsAfter);
        this.changed = changed;
    }

    /** Returns the limit of a hold of these locks that begins now; null if their options set no limit. */
    public static @Nullable HoldLimit of(LockGroup group, EngineScheduler scheduler) {
        return group.holdAtMost().map(most -> new HoldLimit(scheduler, most)).orElse(null);
    }

    /**
     * Returns a limit with the same end, for a node that continues the hold in another mode; null if {@code limit} is
     * null.
     */
    public static @Nullable HoldLimit withEndOf(@Nullable HoldLimit limit) {
        return limit == null
                ? null
                : new HoldLimit(limit.scheduler, limit.beganAt, limit.endsAfter.get(), limit.changed);
    }

    /**
     * Sets the timer, which runs {@code onOver} on the engine thread when the time has elapsed. Called again after each
     * change of the time, on the engine thread, so that no two calls overlap.
     */
    public void begin(Runnable onOver) {
        end();
        timer = scheduler.schedule(Duration.ofNanos(Math.max(0, endsAfter.get() - held())), onOver);
    }

    private long held() {
        return scheduler.nanoTime() - beganAt;
    }

    /** Whether the time has elapsed. If the limit is changed during the comparison, this looks again. */
    public boolean isOver() {
        long ends = endsAfter.get();
        return ends < 0 || (held() >= ends && (endsAfter.compareAndSet(ends, -ends) || isOver()));
    }

    /**
     * Sets the remaining time, unless the time has already elapsed. Then has the engine run {@code begin}, which sets a
     * new timer.
     */
    void change(Duration left, Runnable begin) {
        long ends = held() + left.toNanos();
        if (endsAfter.updateAndGet(last -> last < 0 ? last : ends) > 0) {
            changed = true;
            scheduler.execute(begin);
        }
    }

    /** Cancels the timer, because the hold has ended or gets another timer. */
    public void end() {
        Timer running = timer;
        if (running != null) {
            running.cancel();
        }
    }

    /** Returns why the hold was lost, with the name of the setting that determined the time. */
    public String reason() {
        return "it was held for " + Duration.ofNanos(Math.abs(endsAfter.get())) + ", the most that its "
                + (changed ? "Lease.prolong" : "LockOptions.withHoldAtMost") + " allows";
    }
}
