// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

/** The work of one contender in one case. */
@FunctionalInterface
public interface Experiment {
    /**
     * One turn: connects, warms up, measures, disconnects.
     *
     * @param site an unused place
     * @param effort how long and how much
     */
    Sample measure(Site site, Effort effort) throws InterruptedException;

    /** Whether every round gives the same value, so that one is enough. */
    default boolean isExact() {
        return false;
    }
}
