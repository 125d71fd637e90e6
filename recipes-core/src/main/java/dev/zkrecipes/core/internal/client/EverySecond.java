// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/** Looks at requests once a second on the engine thread, as long as there are any. May be started from any thread. */
final class EverySecond {
    static final Duration PERIOD = Duration.ofSeconds(1);

    private final EngineScheduler scheduler;
    private final BooleanSupplier look;
    private final AtomicBoolean armed = new AtomicBoolean(); // whether the next look is scheduled

    /** {@code look} returns whether there is anything to look at again. */
    EverySecond(EngineScheduler scheduler, BooleanSupplier look) {
        this.scheduler = scheduler;
        this.look = look;
    }

    /** Schedules the next look, unless it is scheduled already. Call this when a request was added. */
    void begin() {
        if (!armed.get() && armed.compareAndSet(false, true)) {
            scheduler.schedule(PERIOD, this::look);
        }
    }

    private void look() {
        armed.set(false); // first: a request that is added from now on schedules the next look
        if (look.getAsBoolean()) {
            begin();
        }
    }
}
