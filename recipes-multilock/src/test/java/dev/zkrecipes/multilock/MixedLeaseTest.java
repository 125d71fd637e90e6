// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.spi.ForeignLock;
import dev.zkrecipes.core.spi.LockGroups;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class MixedLeaseTest {

    @Test
    void memberLostWhileAnotherIsVerified_failsTheVerification() throws InterruptedException {
        Lease first = mock(Lease.class);
        when(first.state()).thenReturn(LeaseState.HELD);
        Lease second = mock(Lease.class);
        when(second.state()).thenReturn(LeaseState.HELD);
        doAnswer(verified -> when(first.state()).thenReturn(LeaseState.LOST))
                .when(second)
                .verify();
        ForeignLock lock = mock(ForeignLock.class);
        when(lock.path()).thenReturn("/a,/b");
        when(lock.acquire()).thenReturn(new MixedHold("/a,/b", List.of(first, second)));

        Lease all = LockGroups.foreign(lock).acquire();
        assertThatThrownBy(all::verify).isInstanceOf(LockLostException.class).hasMessageContaining("/a,/b");
    }

    @Test
    void errorWhileOneIsClosedInBackground_closesTheOthers() {
        InternalError error = new InternalError("thrown by the test");
        Lease first = mock(Lease.class);
        when(first.closeAsync()).thenThrow(error);
        Lease second = mock(Lease.class);
        when(second.closeAsync()).thenReturn(CompletableFuture.completedFuture(null));

        MixedHold all = new MixedHold("/a,/b", List.of(first, second));
        all.releaseInBackground();
        verify(second).closeAsync();
        assertThat(all.released())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCause(error);
    }

    @Test
    void allAreProlonged_whateverOneOfThemSays() {
        Duration most = Duration.ofSeconds(5);
        Lease first = mock(Lease.class);
        Lease second = mock(Lease.class);
        new MixedHold("/a,/b", List.of(first, second)).prolong(most);
        verify(first).prolong(most);
        verify(second).prolong(most);
    }
}
