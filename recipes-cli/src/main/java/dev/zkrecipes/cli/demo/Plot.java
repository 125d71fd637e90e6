// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

/** What is particular to one recipe in a {@link KillScenario}: what the workers do, how it looks, and the verdict. */
interface Plot {
    /** What the workers do, in one line. */
    String intro();

    /** The workers are about to be told to begin. */
    void begin(long now);

    /** Something has happened. */
    void on(Event event);

    /** The demo has killed a worker that held. */
    void killed(int worker);

    /** Time has passed. Called often. */
    void at(long now);

    /** The same while a dead worker still holds. */
    void atWithout(int dead, long since, long now);

    /** Somebody has taken over: what is told next is told from here on. */
    void restart(long now);

    /** The verdict, after the workers have ended. */
    Verdict verdict(Ending ending);
}
