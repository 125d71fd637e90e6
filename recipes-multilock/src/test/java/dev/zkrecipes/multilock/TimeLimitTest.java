// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.mockingDetails;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("H105")
class TimeLimitTest {
    private static final Duration BRIEF = Duration.ofMillis(50);

    private final InterProcessLock busy = mock(InterProcessLock.class);
    private final InterProcessLock silent = mock(InterProcessLock.class);
    private TimeLimit limit = TimeLimit.after(BRIEF);

    @BeforeEach
    void busyLockThatNoServerAnswersFor() throws InterruptedException {
        when(busy.tryAcquire()).thenReturn(Optional.empty());
        when(busy.tryAcquire(any())).thenThrow(new LockConnectionException("no answer"));
    }

    @BeforeEach
    void lockOfWhichNothingIsKnown() throws InterruptedException {
        when(silent.tryAcquire()).thenThrow(new LockConnectionException("no answer"));
        when(silent.tryAcquire(any())).thenReturn(Optional.empty());
    }

    @Test
    void lockSeenBusyJustNow_isBusyAtTheEndOfABriefWait() throws InterruptedException {
        long begin;
        do { // what a thread has seen before it stood still is not seen just now
            begin = System.nanoTime();
            limit = TimeLimit.after(BRIEF);
            assertThat(limit.tryAtOnce(busy)).isEmpty();
            assertThat(limit.acquire(busy)).isEmpty();
        } while (System.nanoTime() - begin > Duration.ofMillis(400).toNanos());
        assertThat(limit.overdue()).isEmpty();
    }

    @Test
    void lockNeverSeen_isNotCalledBusy() throws InterruptedException {
        assertThat(acquireAsked(busy)).isEmpty();
        assertThatThrownBy(limit::overdue).isInstanceOf(LockConnectionException.class);
    }

    @Test
    void unansweredTry_voidsAnEarlierAnswer() throws InterruptedException {
        assertThat(limit.tryAtOnce(busy)).isEmpty();
        assertThat(limit.tryAtOnce(silent)).isEmpty();
        assertThat(limit.acquire(busy)).isEmpty();
        assertThatThrownBy(limit::overdue).isInstanceOf(LockConnectionException.class);
    }

    @Test
    void answeredWait_voidsAnEarlierMissingAnswer() throws InterruptedException {
        limit = TimeLimit.after(Duration.ofMinutes(1)); // the wait is answered at once
        assertThat(limit.tryAtOnce(silent)).isEmpty();
        assertThat(limit.acquire(silent)).isEmpty();
        assertThat(limit.overdue()).isEmpty();
    }

    /** Under a limit of a second, or a longer one if that is over before the lock is asked. */
    private Optional<Lease> acquireAsked(InterProcessLock lock) throws InterruptedException {
        Duration time = Duration.ofSeconds(1);
        Optional<Lease> lease;
        do {
            limit = TimeLimit.after(time);
            lease = limit.acquire(lock);
            time = time.multipliedBy(5);
        } while (mockingDetails(lock).getInvocations().isEmpty());
        return lease;
    }

    /** What is left of the time may be too short for an answer. */
    @Test
    void lockTriedAtTheEnd_afterAnotherWasBusyForLong_isNotSaidToBeSilent() throws InterruptedException {
        InterProcessLock slow = mock(InterProcessLock.class);
        when(slow.tryAcquire(any())).thenAnswer(busyForLong -> {
            Duration left = busyForLong.getArgument(0);
            Thread.sleep(Math.max(900, left.toMillis() - 100)); // uses up most of the limit, which is of real time
            return Optional.of(mock(Lease.class));
        });
        assertThat(acquireAsked(slow)).isPresent();
        assertThat(limit.tryAtOnce(silent)).isEmpty();
        assertThat(limit.acquire(busy)).isEmpty();
        assertThat(limit.overdue()).isEmpty();
    }

    /** A lock of another library does not wait for its connection. */
    @Test
    void lockThatTellsAtOnceThatItHasNoConnection_isAskedAgain() throws InterruptedException {
        Lease lease = mock(Lease.class);
        when(silent.tryAcquire(any()))
                .thenThrow(new LockConnectionException("no answer"))
                .thenReturn(Optional.of(lease));
        when(silent.acquire())
                .thenThrow(new LockConnectionException("no answer"))
                .thenReturn(lease);
        limit = TimeLimit.after(Duration.ofMinutes(1));
        assertThat(limit.tryAtOnce(busy)).isEmpty();
        assertThat(limit.acquire(silent)).containsSame(lease);
        assertThat(TimeLimit.none().acquire(silent)).containsSame(lease);
    }
}
