// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockConnectionException;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("H105")
class TimeLimitTest {
    private final InterProcessLock busy = mock(InterProcessLock.class);
    private final TimeLimit limit = TimeLimit.after(Duration.ofMinutes(1));

    @BeforeEach
    void busyLockThatNoServerAnswersFor() throws InterruptedException {
        when(busy.tryAcquire()).thenReturn(Optional.empty());
        when(busy.tryAcquire(any())).thenThrow(new LockConnectionException("no answer"));
    }

    @Test
    void lockSeenBusyJustNow_isBusyAtTheEndOfABriefWait() throws InterruptedException {
        assertThat(limit.tryAtOnce(busy)).isEmpty();
        assertThat(limit.acquire(busy)).isEmpty();
    }

    @Test
    void lockNeverSeen_isNotCalledBusy() {
        assertThatThrownBy(() -> limit.acquire(busy)).isInstanceOf(LockConnectionException.class);
    }

    @Test
    void unansweredTry_voidsAnEarlierAnswer() {
        InterProcessLock silent = mock(InterProcessLock.class);
        when(silent.tryAcquire()).thenThrow(new LockConnectionException("no answer"));
        assertThat(limit.tryAtOnce(busy)).isEmpty();
        assertThat(limit.tryAtOnce(silent)).isEmpty();
        assertThatThrownBy(() -> limit.acquire(busy)).isInstanceOf(LockConnectionException.class);
    }
}
