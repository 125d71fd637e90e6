// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import dev.zkrecipes.bench.measure.Cycle;

/** Enters the lock once, by the thread that runs the cycle, and then again and again. */
final class ReentrantCycle implements Cycle {
    private final Cycle hold;
    private final int times;
    private boolean entered;

    ReentrantCycle(Cycle hold, int times) {
        this.hold = hold;
        this.times = times;
    }

    @Override
    public void acquire() throws InterruptedException {
        if (!entered) {
            hold.acquire();
            entered = true;
        }
        for (int i = 0; i < times; i++) {
            hold.acquire();
            hold.release();
        }
    }

    @Override
    public void release() {
        // each was given back at once
    }
}
