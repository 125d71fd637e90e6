// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import com.google.common.base.Throwables;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import org.jspecify.annotations.Nullable;

/**
 * Stores a throwable that cut an operation short halfway, for example because stack or memory ran out. The thread that
 * catches it assigns it here before it does anything else: there may be no stack left for a call, not even to log. The
 * engine checks this field whenever it wakes, which it does several times in each session time-out, and then ends the
 * client. So a half-finished release cannot leave a lock held by a client that carries on.
 */
public final class LastResort {
    public volatile @Nullable Throwable thrown;
    private final @Nullable EngineScheduler engine;
    private final Runnable look = this::look; // created in advance, since it is needed when memory has run out

    /** {@code engine} is null for a lock without a client: there are no sessions of ours to end. */
    public LastResort(@Nullable EngineScheduler engine) {
        this.engine = engine;
    }

    /** Makes the engine check the field now. May be called from any thread, even near the end of its stack. */
    public void wakeEngine() {
        if (engine != null) {
            engine.execute(look);
        }
    }

    /** Throws the stored throwable, if there is one. What a task throws ends the client. */
    private void look() {
        Throwable last = thrown;
        if (last != null) {
            Throwables.throwIfUnchecked(last);
            throw new IllegalStateException(last);
        }
    }
}
