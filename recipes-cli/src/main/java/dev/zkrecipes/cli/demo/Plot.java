// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

/** The part of a {@link KillScenario} that depends on the recipe: the work, how it is shown, and the verdict. */
interface Plot {
    /** The work of the workers, in one line. */
    String intro();

    /** The workers are about to begin. */
    void begin(long now);

    /** Something has happened. */
    void on(Event event);

    /** The demo has killed a holder. */
    void killed(int worker);

    /** Time has passed. Called often. */
    void at(long now);

    /** The same while a dead worker still holds. */
    void atWithout(int dead, long since, long now);

    /** Another worker has taken over. Later reports start from here. */
    void restart(long now);

    /** The verdict, after the workers have ended. */
    Verdict verdict(Ending ending);
}
