// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

/** What is done with one contender in one case. */
@FunctionalInterface
public interface Experiment {
    /**
     * One turn: connects, warms up, measures, disconnects.
     *
     * @param site an unused place
     * @param effort how long and how much
     */
    Sample measure(Site site, Effort effort) throws InterruptedException;

    /** Whether it comes out the same every time, so that a single round is enough. */
    default boolean isExact() {
        return false;
    }
}
