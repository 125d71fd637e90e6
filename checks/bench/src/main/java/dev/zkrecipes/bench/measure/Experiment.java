// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import dev.zkrecipes.bench.server.ServerProcess;

/** The work of one contender in one case. */
@FunctionalInterface
public interface Experiment {
    /**
     * One turn: connects, warms up, measures, disconnects.
     *
     * @param server the process of the server, which reports its counts
     * @param site an unused place on it
     * @param effort how long and how much
     */
    Sample measure(ServerProcess server, Site site, Effort effort) throws InterruptedException;

    /** Whether every round gives the same value, so that one is enough. */
    default boolean isExact() {
        return false;
    }
}
