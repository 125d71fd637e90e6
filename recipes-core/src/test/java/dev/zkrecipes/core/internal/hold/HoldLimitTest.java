// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.ManualScheduler;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class HoldLimitTest {
    private static final Duration MOST = Duration.ofSeconds(1);

    /** Whoever has seen it is just about to say so. */
    @Test
    @Tag("H128")
    void timeThatWasSeenOver_isNotChanged() {
        ManualScheduler scheduler = new ManualScheduler();
        HoldLimit limit = new HoldLimit(scheduler, MOST);
        assertThat(limit.isOver()).isFalse();
        scheduler.advance(MOST);
        assertThat(limit.isOver()).isTrue();
        limit.change(MOST, () -> {});
        assertThat(limit.isOver()).isTrue();
        assertThat(limit.reason()).contains("PT1S, the most that its LockOptions.withHoldAtMost allows");
    }

    @Test
    void whatIsLeftOfAProlongedTime_isCalledProlonged() {
        ManualScheduler scheduler = new ManualScheduler();
        HoldLimit limit = new HoldLimit(scheduler, MOST);
        limit.change(MOST.multipliedBy(3), () -> {});
        HoldLimit rest = HoldLimit.withEndOf(limit);
        assertThat(rest).isNotNull();
        assertThat(rest.reason()).contains("PT3S, the most that its Lease.prolong allows");
    }
}
