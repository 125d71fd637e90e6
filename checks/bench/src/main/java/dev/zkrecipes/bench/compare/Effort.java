// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import java.time.Duration;

/**
 * How long and how often to measure.
 *
 * @param start how long each contender runs before anything is measured, so that the JIT compilers of both JVMs have
 *     seen it
 * @param discarded how many rounds of each case are played first and count for nothing
 * @param rounds how often each contender has its turn
 * @param warmUp how long a contender runs before its cycles are counted
 * @param window how long the cycles of a turn are counted
 * @param handOvers how many hand-overs are timed, in one long queue or in several short ones
 */
record Effort(Duration start, int discarded, int rounds, Duration warmUp, Duration window, int handOvers) {
    /** The effort for published figures. */
    static final Effort FULL =
            new Effort(Duration.ofSeconds(10), 1, 5, Duration.ofSeconds(1), Duration.ofSeconds(2), 1_000);

    /** The effort of {@code --quick}, which shows large differences, and that everything works. */
    static final Effort QUICK =
            new Effort(Duration.ofSeconds(2), 0, 3, Duration.ofMillis(100), Duration.ofMillis(150), 200);

    /** This effort with another number of rounds. */
    Effort withRounds(int number) {
        return new Effort(start, discarded, number, warmUp, window, handOvers);
    }
}
