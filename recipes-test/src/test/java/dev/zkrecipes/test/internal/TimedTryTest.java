// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockRefusedException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Only what was not answered is asked again. */
class TimedTryTest {
    private final List<Duration> limits = new ArrayList<>();

    /** Is answered when it has as much time as that. */
    private boolean answered(Duration limit, Duration needed) {
        limits.add(limit);
        if (limit.compareTo(needed) < 0) {
            throw new LockConnectionException("no answer");
        }
        return false;
    }

    @Test
    void answeredRequest_isNotRepeated() throws InterruptedException {
        boolean granted = TimedTry.of(limit -> answered(limit, Duration.ZERO));
        assertThat(granted).isFalse();
        assertThat(limits).containsExactly(Duration.ofSeconds(1));
    }

    @Test
    void unansweredRequest_isRepeatedWithMoreTime() throws InterruptedException {
        boolean granted = TimedTry.of(limit -> answered(limit, Duration.ofSeconds(20)));
        assertThat(granted).isFalse();
        assertThat(limits).containsExactly(Duration.ofSeconds(1), Duration.ofSeconds(5), Duration.ofSeconds(25));
    }

    @Test
    void requestThatIsNeverAnswered_fails() {
        assertThatThrownBy(() -> TimedTry.of(limit -> answered(limit, Duration.ofDays(1))))
                .isInstanceOf(LockConnectionException.class);
        assertThat(limits).hasSize(3);
    }

    @Test
    void errorCausedByAMissingAnswer_countsAsOne() throws InterruptedException {
        boolean granted = TimedTry.of(limit -> {
            try {
                return answered(limit, Duration.ofSeconds(2));
            } catch (LockConnectionException e) {
                throw new IOException("of another library", e);
            }
        });
        assertThat(granted).isFalse();
        assertThat(limits).hasSize(2);
    }

    @Test
    void otherError_isThrownAtOnce() {
        assertThatThrownBy(() -> TimedTry.of(limit -> {
                    limits.add(limit);
                    throw new LockRefusedException("no");
                }))
                .isInstanceOf(LockRefusedException.class);
        assertThat(limits).hasSize(1);
    }
}
