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

    @CanIgnoreReturnValue
    private static Timer pause(Backoff backoff, Runnable next) {
        return backoff.pause(next);
    }

    /** A task's first pause. */
    @CanIgnoreReturnValue
    private Timer pause(Runnable next) {
        return pause(new Backoff(pauses), next);
    }

    /** How long one pause is. */
    private Duration length(Backoff backoff) {
        long begun = scheduler.nanoTime();
        List<Duration> lengths = new ArrayList<>();
        pause(backoff, () -> lengths.add(Duration.ofNanos(scheduler.nanoTime() - begun)));
        while (lengths.isEmpty()) {
            scheduler.advance(LONG);
        }
        return lengths.get(0);
    }

    @Test
    void pauses_doubleUpToTheLongest_andAreShortenedByHalfAtMost() {
        for (int round = 0; round < 200; round++) {
            Backoff backoff = new Backoff(pauses);
            for (long full : new long[] {20, 40, 80, 100, 100, 100}) {
                assertThat(length(backoff)).isBetween(Duration.ofMillis(full / 2), Duration.ofMillis(full));
            }
        }
    }

    /** Clients that have lost the same server do not return together. */
    @Test
    void pausesOfSeveralClients_differ() {
        Set<Duration> lengths = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            lengths.add(length(new Backoff(pauses(Duration.ofSeconds(1), Duration.ofSeconds(1)))));
        }
        assertThat(lengths).hasSizeGreaterThan(10);
    }

    @Test
    void reset_beginsAnew() {
        Backoff backoff = new Backoff(pauses);
        for (int i = 0; i < 10; i++) {
            length(backoff);
        }
        backoff.reset();
        assertThat(length(backoff)).isBetween(Duration.ofMillis(10), Duration.ofMillis(20));
    }

    @Test
    void extremes_doNotOverflow() {
        Duration longest = Duration.ofMillis(Integer.MAX_VALUE);
        Backoff backoff = new Backoff(pauses(longest, longest));
        Backoff small = new Backoff(pauses(Duration.ofNanos(1), longest));
        for (int i = 0; i < 100; i++) {
            assertThat(length(backoff)).isBetween(longest.dividedBy(2), longest);
            assertThat(length(small)).isBetween(Duration.ZERO, longest);
        }
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
        Backoff backoff = new Backoff(pauses);
        pause(backoff, () -> {
            ended.add(scheduler.nanoTime());
            pause(backoff, () -> ended.add(scheduler.nanoTime()));
        });
        scheduler.advance(LONG);
        assertThat(ended).hasSize(2);
        assertThat((long) ended.get(1) - (long) ended.get(0))
                .isBetween(
                        Duration.ofMillis(20).toNanos(), Duration.ofMillis(40).toNanos());
    }

    @Test
    void pauseWhoseTimerIsNotSet_isNotBegun() {
        Backoff backoff = new Backoff(pauses);
        scheduler.refuseNextTimer();
        assertThat(catchThrowable(() -> backoff.pause(() -> ended.add("never"))))
                .isInstanceOf(InternalError.class);
        assertThat(length(backoff)).isBetween(Duration.ofMillis(10), Duration.ofMillis(20));
        assertThat(ended).isEmpty();
    }
}
