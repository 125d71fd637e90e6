// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.it.ensemble.Store.Entry;
import dev.zkrecipes.it.ensemble.Write.Outcome;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The judge of the ensemble test notices every kind of violation. */
class RunVerdictTest {
    private static List<String> judge(List<Hold> holds, List<Write> writes, long counter, List<Entry> history) {
        return RunVerdict.violations(holds, writes, Map.of("a", counter), Map.of("a", history));
    }

    private static List<String> judge(Hold... holds) {
        return judge(List.of(holds), List.of(), 0, List.of());
    }

    private static Hold hold(boolean exclusive, long token, long grantedAt, long lastValidAt) {
        return new Hold("a", exclusive, token, grantedAt, lastValidAt);
    }

    private static Write write(String id, Outcome outcome) {
        return new Write(id, List.of("a"), outcome);
    }

    @Test
    void orderlyRun_isPassed() {
        assertThat(judge(
                        List.of(
                                hold(true, 1, 10, 20),
                                hold(false, 2, 21, 40),
                                hold(false, 3, 30, 35),
                                hold(true, 4, 41, 50)),
                        List.of(
                                write("x", Outcome.DONE),
                                write("y", Outcome.UNKNOWN),
                                write("z", Outcome.REFUSED),
                                write("u", Outcome.UNKNOWN)),
                        2,
                        List.of(new Entry("x", 1, 1, 100), new Entry("y", 2, 4, 101))))
                .isEmpty();
    }

    @Test
    void leaseValidAfterALaterGrant_isFound_evenAcrossOtherHolds() {
        assertThat(judge(hold(true, 1, 10, 31), hold(true, 2, 30, 40))).hasSize(1);
        assertThat(judge(hold(true, 1, 10, 35), hold(true, 2, 30, 32), hold(true, 3, 34, 40)))
                .hasSize(2);
        assertThat(judge(hold(true, 1, 10, 31), hold(false, 2, 30, 40))).hasSize(1);
        assertThat(judge(hold(false, 1, 10, 31), hold(true, 2, 30, 40))).hasSize(1);
    }

    @Test
    void twoHoldersWithOneToken_areFound() {
        assertThat(judge(hold(true, 1, 10, 20), hold(true, 1, 30, 40))).hasSize(1);
    }

    @Test
    void lostWrite_isFound() {
        assertThat(judge(List.of(), List.of(write("x", Outcome.DONE)), 0, List.of()))
                .hasSize(1);
    }

    @Test
    void refusedOrUnknownWrite_appliedAnyway_isFound() {
        List<Entry> history = List.of(new Entry("x", 1, 1, 100));
        assertThat(judge(List.of(), List.of(write("x", Outcome.REFUSED)), 1, history))
                .hasSize(1);
        assertThat(judge(List.of(), List.of(), 1, history)).hasSize(1);
    }

    @Test
    void missedIncrement_isFound() {
        List<Write> writes = List.of(write("x", Outcome.DONE), write("y", Outcome.DONE));
        assertThat(judge(List.of(), writes, 1, List.of(new Entry("x", 1, 1, 100), new Entry("y", 1, 2, 101))))
                .hasSize(2);
    }

    @Test
    void writeOfAnEarlierHolderAfterALaterOne_isFound() {
        List<Write> writes = List.of(write("x", Outcome.DONE), write("y", Outcome.DONE));
        assertThat(judge(List.of(), writes, 2, List.of(new Entry("y", 1, 2, 100), new Entry("x", 2, 1, 101))))
                .hasSize(1);
    }
}
