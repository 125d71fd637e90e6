// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.ManualScheduler;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PauseDetectorTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(48);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final PauseDetector pulse = new PauseDetector(scheduler, TIMEOUT, () -> {});

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
    void stoppedProcess_provesAsOfTheStop_untilAReportOfAnAnswerMustHavePassed() {
        scheduler.advance(Duration.ofSeconds(3));
        long stop = now();
        scheduler.stop(Duration.ofSeconds(20));
        assertThat(pulse.provenAsOf(stop)).as("sent before the stop").isEqualTo(stop);
        // On a line that is dead, nothing reaches the server, however long the process runs already.
        scheduler.advance(Duration.ofSeconds(20));
        assertThat(pulse.provenAsOf(now() - 1)).isEqualTo(stop);
        scheduler.advance(Duration.ofSeconds(11));
        assertThat(pulse.provenAsOf(now())).isEqualTo(stop);
        scheduler.advance(Duration.ofSeconds(2));
        assertProvenAsOfNow();
    }

    @Test
    void answerToWhatWasSentEarlier_doesNotCount() {
        scheduler.advance(Duration.ofSeconds(3));
        long stop = now();
        scheduler.stop(Duration.ofSeconds(20));
        pulse.begin();
        assertThat(pulse.provenAsOf(now() - Duration.ofSeconds(1).toNanos())).isEqualTo(stop);
        scheduler.advance(Duration.ofSeconds(13));
        assertThat(pulse.provenAsOf(now())).isEqualTo(stop);
        scheduler.advance(Duration.ofSeconds(13));
        assertProvenAsOfNow();
    }

    @Test
    void sessionWithoutAnAnswer_countsAsHeardOfAfterAWholeTimeout() {
        scheduler.advance(Duration.ofSeconds(3));
        scheduler.stop(Duration.ofSeconds(20));
        pulse.begin();
        scheduler.advance(TIMEOUT);
        assertProvenAsOfNow();
    }

    @Test
    void nextStop_countsForItself_unlessItFollowsSoon() {
        scheduler.advance(Duration.ofSeconds(3));
        long stop = now();
        scheduler.stop(Duration.ofSeconds(20));
        assertThat(pulse.provenAsOf(now())).isEqualTo(stop);
        scheduler.advance(Duration.ofSeconds(40));
        scheduler.stop(Duration.ofSeconds(20));
        assertThat(pulse.provenAsOf(now())).isEqualTo(stop);
        scheduler.advance(TIMEOUT);
        long next = now();
        scheduler.stop(Duration.ofSeconds(20));
        assertThat(pulse.provenAsOf(now())).isEqualTo(next);
    }

    @Test
    void shorterTimeout_isNoStop() {
        scheduler.advance(Duration.ofSeconds(2));
        pulse.begin(TIMEOUT.dividedBy(8).toNanos());
        assertProvenAsOfNow();
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
