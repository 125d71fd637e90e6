// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.argThat;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockAccessException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.support.LockException;
import org.junit.jupiter.api.Test;

class HeldJobLockTest {
    private static final Duration LONG = Duration.ofMinutes(10);

    private final CompletableFuture<LeaseState> ended = new CompletableFuture<>();
    private final Lease lease = mock(Lease.class);

    private HeldJobLock lock(Duration most, Duration least) {
        when(lease.ended()).thenReturn(ended);
        return new HeldJobLock(new LockConfiguration(Instant.now(), "job", most, least), lease, System.nanoTime());
    }

    /** Or it would be lost just before it is given back, and the log would say so. */
    @Test
    void keptLock_isNotLostAtTheLimitOfTheJob() {
        lock(LONG, LONG).unlock();
        verify(lease).prolong(argThat(time -> time.compareTo(LONG) > 0));
        verify(lease, never()).close();
        verify(lease, never()).closeAsync();
    }

    /** Not only when the time is over: the timer would keep it for as long. */
    @Test
    void leaseThatEnds_isKeptNoLonger() {
        lock(LONG, LONG).unlock();
        ended.complete(LeaseState.LOST);
        verify(lease).closeAsync();
    }

    @Test
    void whatZooKeeperRefuses_isAnErrorOfShedLocks() {
        LockAccessException refused = mock(LockAccessException.class);
        doThrow(refused).when(lease).close();
        assertThatThrownBy(lock(LONG, Duration.ZERO)::unlock)
                .isInstanceOf(LockException.class)
                .hasMessageContaining("lock job")
                .hasCause(refused);
    }

    @Test
    void times_areBroughtIntoTheBoundsOfALimit() {
        assertThat(HeldJobLock.bounded(Duration.ZERO)).isEqualTo(Duration.ofMillis(1));
        assertThat(HeldJobLock.bounded(LONG)).isEqualTo(LONG);
        assertThat(HeldJobLock.bounded(Duration.ofSeconds(Long.MAX_VALUE))).isEqualTo(Duration.ofDays(36_500));
    }
}
