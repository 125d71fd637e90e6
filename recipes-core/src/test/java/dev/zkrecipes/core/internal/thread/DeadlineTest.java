// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.ManualScheduler;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class DeadlineTest {
    private final ManualScheduler clock = new ManualScheduler();

    @Test
    @Tag("H51")
    void remainingTime_shrinksWithTheMonotonicClock() {
        Deadline deadline = Deadline.after(Duration.ofSeconds(2), clock);
        assertThat(deadline.remainingNanos()).isEqualTo(2_000_000_000L);
        clock.advance(Duration.ofMillis(1500));
        assertThat(deadline.remainingNanos()).isEqualTo(500_000_000L);
        clock.advance(Duration.ofSeconds(1));
        assertThat(deadline.remainingNanos()).isEqualTo(-500_000_000L);
    }

    @Test
    void longestTimeout_doesNotOverflow() {
        clock.advance(Duration.ofDays(365));
        for (Duration longest : new Duration[] {
            Duration.ofSeconds(Long.MAX_VALUE, 999_999_999), Duration.ofNanos(Long.MAX_VALUE), Duration.ofDays(100_000)
        }) {
            Deadline deadline = Deadline.after(longest, clock);
            assertThat(deadline.remainingNanos())
                    .isGreaterThan(Duration.ofDays(36_500).toNanos());
            clock.advance(Duration.ofDays(1));
            assertThat(deadline.remainingNanos()).isPositive();
        }
    }
}
