// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.util.List;

/** The demo of one recipe: the plot, on one thread, and the verdict on it. */
interface Scenario {
    /** The workers are ready and are about to begin. */
    void begin(long now);

    /** Something has happened. */
    void on(Arrival arrival);

    /** Time has passed. Called often. */
    void at(long now);

    /** Whether all has been shown, or it cannot continue. */
    boolean isOver(long now);

    /**
     * The verdict, after the workers have ended.
     *
     * @param leftOver the nodes still below the lock path
     */
    Verdict verdict(List<String> leftOver);
}
