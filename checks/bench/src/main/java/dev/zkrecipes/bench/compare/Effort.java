// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import java.time.Duration;

/**
 * How long and how often to measure.
 *
 * @param start how long each contender runs before anything is measured, so that the compilers of both JVMs have seen
 *     it
 * @param discarded how many rounds of each case are played first and count for nothing
 * @param rounds how often each contender has its turn
 * @param warmUp how long a contender runs before its turn counts
 * @param window how long a turn counts
 * @param handOvers how many hand-overs of a long queue are timed
 * @param mostWaiters the longest queue of the comparison of ways to wait
 */
record Effort(
        Duration start, int discarded, int rounds, Duration warmUp, Duration window, int handOvers, int mostWaiters) {
    /** The effort for published figures. */
    static final Effort FULL =
            new Effort(Duration.ofSeconds(10), 1, 5, Duration.ofSeconds(1), Duration.ofSeconds(2), 1_000, 1_000);

    /** Shows large differences, and that everything works. */
    static final Effort QUICK =
            new Effort(Duration.ofSeconds(2), 0, 3, Duration.ofMillis(100), Duration.ofMillis(150), 200, 30);

    /** This effort with another number of rounds. */
    Effort withRounds(int number) {
        return new Effort(start, discarded, number, warmUp, window, handOvers, mostWaiters);
    }
}
