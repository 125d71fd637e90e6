// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How long one holder may have a node, see {@link dev.zkrecipes.core.LockOptions#withHoldAtMost}. Any thread. */
public final class HoldLimit {
    private final EngineScheduler scheduler;
    private final Duration most;
    private final long endsAt;
    private volatile @Nullable Timer timer;

    /** From now on. */
    public HoldLimit(EngineScheduler scheduler, Duration most) {
        this(scheduler, most, scheduler.nanoTime() + most.toNanos());
    }

    private HoldLimit(EngineScheduler scheduler, Duration most, long endsAt) {
        this.scheduler = scheduler;
        this.most = most;
        this.endsAt = endsAt;
    }

    /** What is left of a limit, for a node that continues the hold. */
    static @Nullable HoldLimit withEndOf(@Nullable HoldLimit limit) {
        return limit == null ? null : new HoldLimit(limit.scheduler, limit.most, limit.endsAt);
    }

    /** Runs the task on the engine thread when the time is over. */
    public void begin(Runnable onOver) {
        timer = scheduler.schedule(Duration.ofNanos(Math.max(0, endsAt - scheduler.nanoTime())), onOver);
    }

    public boolean isOver() {
        return scheduler.nanoTime() - endsAt >= 0;
    }

    public void end() {
        Timer running = timer;
        if (running != null) {
            running.cancel();
        }
    }

    public String reason() {
        return "it was held for " + most + ", the most that its LockOptions.withHoldAtMost allows";
    }
}
