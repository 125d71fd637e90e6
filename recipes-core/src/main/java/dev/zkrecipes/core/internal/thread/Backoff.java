// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;

/**
 * The {@link Pauses} of one task, each twice as long as the one before up to a limit. Confined to the engine thread.
 */
public final class Backoff {
    private static final int MOST_DOUBLINGS = 40;

    private final Pauses pauses;
    private int begun;

    public Backoff(Pauses pauses) {
        this.pauses = pauses;
    }

    public Timer pause(Runnable next) {
        Timer timer = pauses.begin(begun, next);
        begun = Math.min(begun + 1, MOST_DOUBLINGS);
        return timer;
    }

    /** Things went well: the next pause is a short one again. */
    public void reset() {
        begun = 0;
    }
}
