// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** How long one holder may have a node. Once anybody has seen that the time is over, it stays over. Any thread. */
public final class HoldLimit {
    private final EngineScheduler scheduler;
    private final long beganAt;
    private final AtomicLong endsAfter; // negated once it is over
    private volatile @Nullable Timer timer;
    private volatile boolean changed;

    public HoldLimit(EngineScheduler scheduler, Duration most) {
        this(scheduler, scheduler.nanoTime(), most.toNanos(), false);
    }

    private HoldLimit(EngineScheduler scheduler, long beganAt, long endsAfter, boolean changed) {
        this.scheduler = scheduler;
        this.beganAt = beganAt;
        this.endsAfter = new AtomicLong(endsAfter);
        this.changed = changed;
    }

    /** What is left of a limit, for a node that continues the hold. */
    public static @Nullable HoldLimit withEndOf(@Nullable HoldLimit limit) {
        return limit == null
                ? null
                : new HoldLimit(limit.scheduler, limit.beganAt, limit.endsAfter.get(), limit.changed);
    }

    /** Runs the task on the engine thread when the time is over; again if it was changed, and on that thread. */
    public void begin(Runnable onOver) {
        end();
        timer = scheduler.schedule(Duration.ofNanos(Math.max(0, endsAfter.get() - held())), onOver);
    }

    private long held() {
        return scheduler.nanoTime() - beganAt;
    }

    public boolean isOver() {
        long ends = endsAfter.get();
        return ends < 0 || (held() >= ends && (endsAfter.compareAndSet(ends, -ends) || isOver()));
    }

    /** Sets the time that is left, unless it is over; then runs the task on the engine thread, which begins it. */
    void change(Duration left, Runnable begin) {
        long ends = held() + left.toNanos();
        if (endsAfter.updateAndGet(last -> last < 0 ? last : ends) > 0) {
            changed = true;
            scheduler.execute(begin);
        }
    }

    public void end() {
        Timer running = timer;
        if (running != null) {
            running.cancel();
        }
    }

    public String reason() {
        return "it was held for " + Duration.ofNanos(Math.abs(endsAfter.get())) + ", the most that its "
                + (changed ? "Lease.prolong" : "LockOptions.withHoldAtMost") + " allows";
    }
}
