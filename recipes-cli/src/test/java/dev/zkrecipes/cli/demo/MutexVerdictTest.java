// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.demo.CounterFile.Counter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Each way in which a run can be wrong, with a made-up history. */
class MutexVerdictTest {
    private static final TakeOverLimit LIMIT = new TakeOverLimit(Duration.ofSeconds(3), Duration.ofMillis(500));
    private static final long KILLED_AT = 1_000_000_000L;
    private static final Grant VICTIM = new Grant(2, 25, 0);

    private static final Increment FIRST = new Increment(1, 1, 10, 0);
    private static final Increment SECOND = new Increment(2, 2, 20, 10);
    private static final Increment THIRD = new Increment(3, 3, 30, 20);

    private List<Increment> increments = List.of(FIRST, SECOND, THIRD);
    private Counter file = new Counter(3, 30);
    private Optional<TakeOver> takeOver = takeOver(Optional.empty(), Duration.ofMillis(3400));
    private List<String> troubles = List.of();
    private List<String> leftOver = List.of();

    private static Optional<TakeOver> takeOver(Optional<Grant> intruder, Duration took) {
        Grant heir = new Grant(3, 30, KILLED_AT + took.toNanos());
        return Optional.of(new TakeOver(VICTIM, KILLED_AT, intruder, Optional.of(heir)));
    }

    private Verdict verdict() {
        return MutexVerdict.of(new MutexHistory(increments, file, new Ending(takeOver, LIMIT, troubles, leftOver)));
    }

    private void assertFailed(String subject, String finding) {
        assertThat(verdict().isPassed()).isFalse();
        assertThat(verdict().checks()).filteredOn(check -> !check.ok()).anySatisfy(check -> {
            assertThat(check.subject()).isEqualTo(subject);
            assertThat(check.finding()).contains(finding);
        });
    }

    private void assertOnlyFailed(String subject, String finding) {
        assertFailed(subject, finding);
        assertThat(verdict().checks()).filteredOn(check -> !check.ok()).hasSize(1);
    }

    @Test
    void faultlessHistory_passes() {
        assertThat(verdict().isPassed()).isTrue();
        assertThat(verdict().checks())
                .extracting(Check::subject)
                .containsExactly("increments", "updates", "tokens", "take-over", "processes", "nodes");
    }

    @Test
    void overtakingEvents_pass() {
        increments = List.of(THIRD, FIRST, SECOND);
        assertThat(verdict().isPassed()).isTrue();
    }

    @Test
    void laggingFile_fails() {
        file = new Counter(2, 20);
        assertFailed("increments", "2 counted in the file but 3 made by the workers");
        assertFailed("tokens", "the file ends with token 20 instead of 30");
    }

    @Test
    void noIncrementAtAll_fails() {
        increments = List.of();
        file = Counter.ZERO;
        assertOnlyFailed("increments", "0 counted");
    }

    @Test
    void lostUpdate_fails() {
        increments = List.of(FIRST, SECOND, new Increment(3, 2, 30, 10));
        file = new Counter(2, 30);
        assertFailed("increments", "2 counted in the file but 3 made");
        assertFailed("updates", "value 2 was written twice: an update is lost (the second time by w3)");
    }

    @Test
    void unreportedIncrement_fails() {
        increments = List.of(FIRST, THIRD);
        assertFailed("increments", "3 counted in the file but 2 made");
        assertFailed("updates", "nobody reported to have written value 2");
    }

    @Test
    void lostUpdateHiddenByAnUnreportedOne_fails() {
        increments = List.of(FIRST, new Increment(2, 1, 20, 0), THIRD);
        assertFailed("updates", "value 1 was written twice");
    }

    @Test
    void tokenNotRising_fails() {
        increments = List.of(FIRST, new Increment(2, 2, 10, 10), new Increment(3, 3, 30, 10));
        assertOnlyFailed("tokens", "value 2 by w2 has token 10, not above 10 before it");
    }

    @Test
    void tokenOfSomebodyElseInTheFile_fails() {
        increments = List.of(FIRST, SECOND, new Increment(3, 3, 30, 15));
        assertOnlyFailed("tokens", "value 3 by w3 came upon token 15 instead of 20");
    }

    @Test
    void takeOverAtTheLimit_passes() {
        takeOver = takeOver(Optional.empty(), Duration.ofMillis(4500));
        assertThat(verdict().isPassed()).isTrue();
    }

    @Test
    void lateTakeOver_fails() {
        takeOver = takeOver(Optional.empty(), Duration.ofMillis(4501));
        assertOnlyFailed("take-over", "too late: limit 4.5 s (session 3.0 + tick 0.5 + 1.0)");
    }

    @Test
    void noTakeOver_fails() {
        takeOver = Optional.of(new TakeOver(VICTIM, KILLED_AT, Optional.empty(), Optional.empty()));
        assertOnlyFailed("take-over", "nobody took over from w2");
    }

    @Test
    void nobodyKilled_fails() {
        takeOver = Optional.empty();
        assertOnlyFailed("take-over", "nobody was killed");
    }

    @Test
    void secondHolder_fails() {
        takeOver = takeOver(Optional.of(new Grant(1, 28, 5)), Duration.ofSeconds(3));
        assertOnlyFailed("exclusion", "w1 was granted token 28 while w2 held with token 25");
    }

    @Test
    void everyTrouble_fails() {
        troubles = List.of("w1 ended unasked, with exit code 1", "w3 did not end");
        assertFailed("processes", "w1 ended unasked");
        assertFailed("processes", "w3 did not end");
    }

    @Test
    void nodeLeftBehind_fails() {
        leftOver = List.of("a-lock-0000000007");
        assertOnlyFailed("nodes", "1 left below the lock path: a-lock-0000000007");
    }
}
