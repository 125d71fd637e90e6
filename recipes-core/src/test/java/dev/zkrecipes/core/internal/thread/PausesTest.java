// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class PausesTest {
    private static final Duration LONG = Duration.ofHours(1);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final Pauses pauses = pauses(Duration.ofMillis(20), Duration.ofMillis(100));
    private final List<Object> ended = new ArrayList<>();

    private Pauses pauses(Duration first, Duration longest) {
        return new Pauses(scheduler, first, longest);
    }

    /** A task's first pause. */
    @CanIgnoreReturnValue
    private Timer pause(Runnable next) {
        return pauses.begin(0, next);
    }

    /** How long a pause is after so many earlier ones. */
    private Duration length(Pauses of, int earlier) {
        long begun = scheduler.nanoTime();
        List<Duration> lengths = new ArrayList<>();
        Timer unused = of.begin(earlier, () -> lengths.add(Duration.ofNanos(scheduler.nanoTime() - begun)));
        while (lengths.isEmpty()) {
            scheduler.advance(LONG);
        }
        return lengths.get(0);
    }

    @Test
    void pauses_doubleUpToTheLongest_andAreShortenedByHalfAtMost() {
        for (int round = 0; round < 200; round++) {
            int earlier = 0;
            for (long full : new long[] {20, 40, 80, 100, 100, 100}) {
                assertThat(length(pauses, earlier++)).isBetween(Duration.ofMillis(full / 2), Duration.ofMillis(full));
            }
        }
    }

    /** Clients that have lost the same server do not return together. */
    @Test
    void pausesOfSeveralClients_differ() {
        Set<Duration> lengths = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            lengths.add(length(pauses(Duration.ofSeconds(1), Duration.ofSeconds(1)), 0));
        }
        assertThat(lengths).hasSizeGreaterThan(10);
    }

    @Test
    void extremes_doNotOverflow() {
        Duration longest = Duration.ofMillis(Integer.MAX_VALUE);
        Pauses large = pauses(longest, longest);
        Pauses small = pauses(Duration.ofNanos(1), longest);
        for (int i = 0; i < 100; i++) {
            assertThat(length(large, i)).isBetween(longest.dividedBy(2), longest);
            assertThat(length(small, i)).isBetween(Duration.ZERO, longest);
        }
        assertThat(length(large, Integer.MAX_VALUE)).isBetween(longest.dividedBy(2), longest);
    }

    @Test
    @Tag("H90")
    void pausesThatMayEndTogether_do() {
        pause(() -> ended.add(scheduler.nanoTime()));
        scheduler.advance(Duration.ofNanos(1));
        pause(() -> ended.add(scheduler.nanoTime()));
        pause(() -> ended.add(scheduler.nanoTime()));
        scheduler.advance(LONG);
        assertThat(ended).hasSize(3);
        assertThat(ended.stream().distinct()).hasSize(1);
    }

    @Test
    void pauseThatIsTooShortForAnother_endsByItself() {
        pause(() -> ended.add(scheduler.nanoTime()));
        scheduler.advance(Duration.ofMillis(9));
        pause(() -> ended.add(scheduler.nanoTime()));
        scheduler.advance(LONG);
        assertThat(ended).hasSize(2);
        assertThat((long) ended.get(0))
                .isLessThanOrEqualTo(Duration.ofMillis(20).toNanos());
        assertThat((long) ended.get(1))
                .isGreaterThanOrEqualTo(Duration.ofMillis(19).toNanos());
    }

    @Test
    void pauseThatIsCalledOff_endsForNobody_andOthersGoOn() {
        Timer off = pause(() -> ended.add("off"));
        pause(() -> ended.add("on"));
        off.cancel();
        off.cancel();
        assertThat(scheduler.timers()).isEqualTo(1);
        scheduler.advance(LONG);
        assertThat(ended).containsExactly("on");
    }

    @Test
    void taskThatCallsOffAnotherOfTheSameEnd_isObeyed() {
        List<Timer> second = new ArrayList<>();
        pause(() -> {
            ended.add("first");
            second.get(0).cancel();
        });
        second.add(pause(() -> ended.add("second")));
        scheduler.advance(LONG);
        assertThat(ended).containsExactly("first");
    }

    /** Such as one that pauses again at once. */
    @Test
    void taskThatPausesAgain_waitsForAnotherEnd() {
        pause(() -> {
            ended.add(scheduler.nanoTime());
            Timer unused = pauses.begin(1, () -> ended.add(scheduler.nanoTime()));
        });
        scheduler.advance(LONG);
        assertThat(ended).hasSize(2);
        assertThat((long) ended.get(1) - (long) ended.get(0))
                .isBetween(
                        Duration.ofMillis(20).toNanos(), Duration.ofMillis(40).toNanos());
    }

    @Test
    void pauseWhoseTimerIsNotSet_isNotBegun() {
        scheduler.refuseNextTimer();
        assertThat(catchThrowable(() -> pause(() -> ended.add("never")))).isInstanceOf(InternalError.class);
        assertThat(length(pauses, 0)).isBetween(Duration.ofMillis(10), Duration.ofMillis(20));
        assertThat(ended).isEmpty();
    }
}
