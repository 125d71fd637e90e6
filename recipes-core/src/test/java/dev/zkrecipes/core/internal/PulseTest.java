// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PulseTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(48);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final AtomicLong timeoutNanos = new AtomicLong(TIMEOUT.toNanos());
    private final Pulse pulse = new Pulse(scheduler, timeoutNanos::get);

    @BeforeEach
    void begin() {
        pulse.begin();
    }

    private long now() {
        return scheduler.nanoTime();
    }

    private void assertProvenAsOfNow() {
        assertThat(pulse.provenAsOf(now())).isEqualTo(now());
    }

    @Test
    void runningProcess_provesAsOfTheWrite() {
        for (int second = 0; second < 100; second++) {
            scheduler.advance(Duration.ofSeconds(1));
            assertProvenAsOfNow();
        }
    }

    @Test
    void stoppedProcess_provesAsOfTheStop_untilAReportMustHavePassed() {
        scheduler.advance(Duration.ofSeconds(3));
        long stop = now();
        scheduler.stop(Duration.ofSeconds(20));
        assertThat(pulse.provenAsOf(now())).isEqualTo(stop);
        assertThat(pulse.provenAsOf(stop)).as("sent before the stop").isEqualTo(stop);
        scheduler.advance(Duration.ofSeconds(11));
        assertThat(pulse.provenAsOf(now())).isEqualTo(stop);
        scheduler.advance(Duration.ofSeconds(2));
        assertProvenAsOfNow();
    }

    @Test
    void shorterTimeout_isNoStop() {
        scheduler.advance(Duration.ofSeconds(2));
        timeoutNanos.set(TIMEOUT.dividedBy(8).toNanos());
        assertProvenAsOfNow();
        pulse.begin();
        scheduler.advance(Duration.ofSeconds(1));
        assertProvenAsOfNow();
        scheduler.stop(Duration.ofSeconds(1));
        assertThat(pulse.provenAsOf(now())).isLessThan(now());
    }

    @Test
    void endedPulse_setsNoTimer() {
        pulse.end();
        scheduler.advance(TIMEOUT);
        assertThat(scheduler.timers()).isZero();
    }
}
