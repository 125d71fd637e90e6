// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.faults.FaultVerdict.Evidence;
import dev.zkrecipes.bench.faults.Referee.Counter;
import dev.zkrecipes.bench.faults.Tenure.Outcome;
import dev.zkrecipes.bench.faults.Tenure.Span;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Histories made by hand: each kind of violation is noticed, and what is none is not. Times are in milliseconds. */
class FaultVerdictTest {
    private static final long MILLI = 1_000_000;
    private static final long TOLERANCE = 3 * MILLI;
    private static final Counter ANY = new Counter(Contender.OURS, 0, false);
    private static final Counter CHECKED = new Counter(Contender.OURS, 0, true);

    private final Referee.Notebook referee = new Referee.Notebook();
    private final ServerLog log = new ServerLog(0);
    private Arena.Remains remains = new Arena.Remains(0, 0);
    private Outcome guardedWrite = Outcome.HELD_BACK;

    private static String node(int number) {
        return FaultClient.Threads.path(Contender.OURS, 0) + "/lock-000000000" + number;
    }

    /** A node that is there from one time to another; zxids are times, too. */
    private void node(int number, long from, long to) {
        log.create(node(number), 1, from, from * MILLI);
        if (to != 0) {
            log.delete(node(number), to, to * MILLI);
        }
    }

    private void holds(int number, long asked, long granted, long released, Span... believed) {
        holds(number, false, asked, granted, released, believed);
    }

    private void holds(int number, boolean isShared, long asked, long granted, long released, Span... believed) {
        List<Span> spans = new ArrayList<>();
        for (Span span : believed) {
            spans.add(new Span(span.from() * MILLI, span.to() * MILLI));
        }
        referee.note(new Tenure(
                Contender.OURS,
                0,
                "1",
                isShared,
                number,
                node(number),
                asked * MILLI,
                granted * MILLI,
                spans,
                released * MILLI,
                List.of(Outcome.DONE, Outcome.DONE, guardedWrite)));
    }

    private FaultVerdict verdict() {
        Evidence evidence = referee.evidence(log, TOLERANCE);
        return new FaultVerdict(Contender.OURS, evidence, 0, remains);
    }

    @Test
    void orderlyTurns_areTimed_andBreakNoPromise() {
        node(1, 10, 30);
        node(2, 15, 50);
        holds(1, 9, 11, 29, new Span(11, 28));
        holds(2, 14, 31, 49, new Span(31, 48));
        assertThat(verdict().violations()).isEmpty();
        assertThat(verdict().figures())
                .containsEntry("grants", "2")
                .containsEntry("hand-over, median, ms", "2")
                .containsEntry("longest time without a grant, s", "0.0")
                .containsEntry("holders that believed while another held", "0");
    }

    @Test
    void holderThatDidNotWait_hasNoHandOver() {
        node(1, 10, 30);
        node(2, 100, 130);
        holds(1, 9, 11, 29);
        holds(2, 99, 101, 129);
        assertThat(verdict().figures()).doesNotContainKey("hand-over, median, ms");
    }

    @Test
    void grantWhileANodeInFrontIsThere_isFound_unlessTheClocksExplainIt() {
        node(1, 10, 35);
        node(2, 15, 50);
        holds(2, 14, 31, 49);
        assertThat(verdict().violations()).containsExactly("1 two holders at once by the server's order");
    }

    @Test
    void grantWithinTheTolerance_isNone() {
        node(1, 10, 33);
        node(2, 15, 50);
        holds(2, 14, 31, 49);
        assertThat(verdict().violations()).isEmpty();
    }

    @Test
    void beliefWhileALaterHolderHolds_isFound_andLastsAsLongAsItWasAwake() {
        node(1, 10, 30);
        node(2, 15, 50);
        node(3, 16, 70);
        holds(1, 9, 11, 90, new Span(11, 20), new Span(60, 64));
        holds(2, 14, 31, 49, new Span(31, 48));
        holds(3, 15, 51, 69, new Span(51, 68));
        assertThat(verdict().violations()).containsExactly("1 holders that believed while another held");
        assertThat(verdict().overlaps()).singleElement().satisfies(overlap -> {
            assertThat(overlap.believer().node()).isEqualTo(node(1));
            assertThat(overlap.holder().node()).isEqualTo(node(2));
            assertThat(overlap.nanos()).isEqualTo(4 * MILLI);
        });
    }

    @Test
    void beliefPastAHolderThatWasToldLate_isFound() {
        node(1, 10, 30);
        node(2, 15, 50);
        node(3, 16, 70);
        holds(1, 9, 11, 90, new Span(11, 60));
        holds(2, 14, 80, 81);
        holds(3, 15, 51, 69);
        assertThat(verdict().overlaps())
                .singleElement()
                .satisfies(overlap -> assertThat(overlap.holder().node()).isEqualTo(node(3)));
    }

    @Test
    void beliefOfAReader_isWrongBesideAWriterOnly() {
        node(1, 10, 60);
        node(2, 15, 60);
        node(3, 16, 90);
        holds(1, true, 9, 11, 59, new Span(11, 58));
        holds(2, true, 14, 16, 59, new Span(16, 58));
        holds(3, 15, 61, 89, new Span(61, 88));
        assertThat(verdict().violations()).isEmpty();
        holds(3, 15, 57, 89, new Span(57, 88));
        assertThat(verdict().overlaps()).hasSize(2);
        node(3, 16, 40);
        holds(3, 15, 20, 39, new Span(20, 38));
        node(4, 17, 90);
        holds(4, true, 16, 37, 89, new Span(37, 88));
        assertThat(verdict().overlaps())
                .filteredOn(overlap -> overlap.believer().node().equals(node(3)))
                .hasSize(1);
    }

    @Test
    void acknowledgedWriteThatNoServerLogged_isFound() {
        node(1, 10, 30);
        guardedWrite = Outcome.DONE;
        holds(1, 9, 11, 29);
        assertThat(verdict().violations())
                .containsExactly("1 guarded writes acknowledged that the servers' logs do not have");
        log.set(FaultClient.Threads.counter(Contender.OURS, 0), "1 " + node(1), 20);
        assertThat(verdict().violations()).isEmpty();
    }

    @Test
    void killedHolder_believesNothing() {
        node(1, 10, 30);
        node(2, 15, 50);
        holds(1, 9, 11, 0);
        holds(2, 14, 31, 49);
        assertThat(verdict().violations()).isEmpty();
    }

    @Test
    void staleWrite_isCounted_andBreaksAPromiseWithATokenOnly() {
        node(1, 10, 30);
        node(2, 15, 50);
        holds(1, 9, 11, 29);
        holds(2, 14, 31, 49);
        for (Counter counter : List.of(ANY, CHECKED)) {
            long read = referee.read(counter, 1);
            referee.write(counter, 2, referee.read(counter, 2) + 1);
            referee.write(counter, 1, read + 1);
        }
        assertThat(verdict().violations()).isEmpty();
        assertThat(verdict().figures())
                .containsEntry("stale writes accepted without a token", "1")
                .containsEntry("increments lost without a token", "1")
                .containsEntry("stale writes accepted with a token", "0")
                .containsEntry("increments lost with tokens", "0");
    }

    @Test
    void incrementLostInSpiteOfTokens_isFound() {
        node(1, 10, 30);
        holds(1, 9, 11, 29);
        referee.write(CHECKED, 1, 1);
        referee.write(CHECKED, 1, 1);
        assertThat(verdict().violations()).containsExactly("1 increments lost with tokens");
    }

    @Test
    void guardedWriteOfAHolderWhoseNodeIsGone_isFound() {
        node(1, 10, 30);
        holds(1, 9, 11, 29);
        String counter = FaultClient.Threads.counter(Contender.OURS, 0);
        log.set(counter, "1 " + node(1), 20);
        assertThat(verdict().violations()).isEmpty();
        log.set(counter, "2 " + node(1), 40);
        assertThat(verdict().violations()).containsExactly("1 stale writes committed with a guard");
    }

    @Test
    void incrementLostInSpiteOfGuards_isFound() {
        node(1, 10, 30);
        holds(1, 9, 11, 29);
        log.set(FaultClient.Threads.counter(Contender.OURS, 0), "1 " + node(1), 20);
        log.set(FaultClient.Threads.counter(Contender.OURS, 0), "1 " + node(1), 21);
        assertThat(verdict().violations()).containsExactly("1 increments lost with guards");
    }

    @Test
    void nodesOfASession_endWithIt_whichFreesTheNext() {
        log.create(node(1), 7, 10, 10 * MILLI);
        node(2, 15, 50);
        log.endSession(7, 30, 30 * MILLI);
        holds(2, 14, 31, 49);
        assertThat(verdict().violations()).isEmpty();
    }

    @Test
    void tokenThatDoesNotRise_isFound() {
        node(1, 20, 30);
        node(2, 10, 15);
        holds(1, 19, 21, 29);
        holds(2, 9, 11, 14);
        assertThat(verdict().violations()).containsExactly("1 tokens not above that of the holder before");
    }

    @Test
    void whatIsLeft_andANodeWithoutALog_areFound() {
        holds(1, 9, 11, 29);
        remains = new Arena.Remains(2, 3);
        assertThat(verdict().violations())
                .containsExactly(
                        "2 threads not served at the end",
                        "3 nodes left at the end",
                        "1 nodes that the servers' logs do not have");
    }

    @Test
    void questionsThatAreFarApart_beginANewSpan() {
        List<Span> believed = new ArrayList<>();
        Tenure.note(believed, 0);
        Tenure.note(believed, Tenure.GAP_NANOS);
        Tenure.note(believed, 2 * Tenure.GAP_NANOS + 1);
        assertThat(believed)
                .containsExactly(
                        new Span(0, Tenure.GAP_NANOS), new Span(2 * Tenure.GAP_NANOS + 1, 2 * Tenure.GAP_NANOS + 1));
    }

    @Test
    void plan_isThatOfItsSeed() {
        FaultPlan plan = new FaultPlan(7);
        FaultPlan again = new FaultPlan(7);
        assertThat(List.of(plan.next(), plan.next(), plan.next()))
                .isEqualTo(List.of(again.next(), again.next(), again.next()))
                .isNotEqualTo(List.of(plan.next(), plan.next(), plan.next()));
    }
}
