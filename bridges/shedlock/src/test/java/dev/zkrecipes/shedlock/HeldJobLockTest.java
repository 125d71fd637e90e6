// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.argThat;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockAccessException;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import org.junit.jupiter.api.Test;

class HeldJobLockTest {
    private static final Duration LONG = Duration.ofMinutes(10);

    private final Lease lease = mock(Lease.class);
    private final Runnable jobEnded = mock(Runnable.class);

    private HeldJobLock lock(Duration most, Duration least) {
        return new HeldJobLock(
                new LockConfiguration(Instant.now(), "a\njob", most, least), lease, System.nanoTime(), jobEnded);
    }

    /** Or it would be lost just before it is given back, and the log would say so. */
    @Test
    void keptLock_isNotLostAtTheLimitOfTheJob() {
        lock(LONG, LONG).unlock();
        verify(lease).prolong(argThat(time -> time.compareTo(LONG) > 0));
        verify(lease).closeAfter(argThat(time -> !time.isNegative() && time.compareTo(LONG) <= 0));
        verify(lease, never()).close();
    }

    @Test
    void jobEnds_whenItsLockIsGivenBack_orExtendedAndGivenBack() {
        when(lease.prolong(any())).thenReturn(true);
        HeldJobLock lock = lock(LONG, Duration.ZERO);
        SimpleLock extended = lock.extend(LONG, LONG).orElseThrow();
        verify(jobEnded, never()).run();
        extended.unlock();
        verify(jobEnded).run();
    }

    @Test
    void whatZooKeeperRefuses_isAnErrorOfShedLocks_inOneLine() {
        LockAccessException refused = new LockAccessException("refused");
        doThrow(refused).when(lease).close();
        assertThatThrownBy(lock(LONG, Duration.ZERO)::unlock)
                .isInstanceOf(LockException.class)
                .hasMessage("lock a%0Ajob: refused")
                .hasCause(refused);
        verify(jobEnded).run();
    }

    @Test
    void times_areBroughtIntoTheBoundsOfALimit() {
        assertThat(HeldJobLock.bounded(Duration.ZERO)).isEqualTo(Duration.ofMillis(1));
        assertThat(HeldJobLock.bounded(LONG)).isEqualTo(LONG);
        assertThat(HeldJobLock.bounded(Duration.ofSeconds(Long.MAX_VALUE))).isEqualTo(Duration.ofDays(36_500));
    }
}
