// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import dev.zkrecipes.bench.measure.Cycle;

/** Enters the lock once, by the thread that runs the cycle, and then again and again. */
abstract class ReentrantCycle implements Cycle {
    private final int times;
    private boolean entered;

    ReentrantCycle(int times) {
        this.times = times;
    }

    /** Takes the lock for good. */
    abstract void enter() throws InterruptedException;

    /** Takes it once more and releases that hold. */
    abstract void again() throws InterruptedException;

    @Override
    public final void acquire() throws InterruptedException {
        if (!entered) {
            enter();
            entered = true;
        }
        for (int i = 0; i < times; i++) {
            again();
        }
    }

    @Override
    public final void release() {
        // each was given back at once
    }
}
