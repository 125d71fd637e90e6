// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.CALLS_REAL_METHODS;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@link InterProcessLock#call} and its relatives, which every lock inherits. */
class CallTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final InterProcessLock lock = mock(InterProcessLock.class, CALLS_REAL_METHODS);
    private final Lease lease = mock(Lease.class);

    @BeforeEach
    void lockIsFree() throws InterruptedException {
        doReturn(lease).when(lock).acquire();
        doReturn(Optional.of(lease)).when(lock).tryAcquire(SECOND);
    }

    private String bodyThatHolds(Lease given) {
        assertThat(given).isSameAs(lease);
        verify(lease, never()).close();
        return "done";
    }

    @Test
    void body_runsWithTheLock_whichIsReleasedAfterwards() throws InterruptedException {
        assertThat(lock.call(this::bodyThatHolds)).isEqualTo("done");
        verify(lease).close();
    }

    @Test
    void tried_runsWithTheLock_whichIsReleasedAfterwards() throws InterruptedException {
        assertThat(lock.tryCall(SECOND, this::bodyThatHolds)).hasValue("done");
        verify(lease).close();
    }

    @Test
    void triedWithoutAResult_runsWithTheLock_whichIsReleasedAfterwards() throws InterruptedException {
        assertThat(lock.tryRun(SECOND, this::bodyThatHolds)).isTrue();
        verify(lease).close();
    }

    @Test
    void tried_whileBusy_isEmpty_andRunsNothing() throws InterruptedException {
        doReturn(Optional.empty()).when(lock).tryAcquire(SECOND);
        AtomicBoolean ran = new AtomicBoolean();
        assertThat(lock.tryCall(SECOND, given -> ran.getAndSet(true))).isEmpty();
        assertThat(lock.tryRun(SECOND, given -> ran.set(true))).isFalse();
        assertThat(ran).isFalse();
    }

    /** The checked exception is declared as what it is. */
    @Test
    void failureOfTheBody_isThrown_andAFailedReleaseIsSuppressedInIt() {
        IOException failure = new IOException("disk full");
        LockAccessException refused = new LockAccessException("may not delete");
        doThrow(refused).when(lease).close();
        InterProcessLock.Body<String, IOException> failing = given -> {
            throw failure;
        };
        assertThatThrownBy(() -> lock.call(failing)).isSameAs(failure).hasSuppressedException(refused);
        assertThatThrownBy(() -> lock.tryCall(SECOND, failing)).isSameAs(failure);
        assertThatThrownBy(() -> lock.tryRun(SECOND, failing::call)).isSameAs(failure);
    }

    @Test
    void failedRelease_isThrown_ifTheBodyWasFine() {
        LockAccessException refused = new LockAccessException("may not delete");
        doThrow(refused).when(lease).close();
        assertThatThrownBy(() -> lock.call(given -> "done")).isSameAs(refused);
        assertThatThrownBy(() -> lock.tryCall(SECOND, given -> "done")).isSameAs(refused);
    }

    @Test
    void nothing_isAnAnswerOfCall_andRejectedByTryCall_whoseLockIsReleased() throws InterruptedException {
        assertThat(lock.<Object, RuntimeException>call(given -> null)).isNull();
        assertThatNullPointerException()
                .isThrownBy(() -> lock.tryCall(SECOND, given -> null))
                .withMessageContaining("return something else");
        verify(lease, times(2)).close();
    }

    @Test
    void withoutABody_nothingIsAcquired() throws InterruptedException {
        assertThatNullPointerException().isThrownBy(() -> lock.call(null)).withMessage("body");
        assertThatNullPointerException()
                .isThrownBy(() -> lock.tryCall(SECOND, null))
                .withMessage("body");
        assertThatNullPointerException()
                .isThrownBy(() -> lock.tryRun(SECOND, null))
                .withMessage("body");
        verify(lock, never()).acquire();
        verify(lock, never()).tryAcquire(SECOND);
    }
}
