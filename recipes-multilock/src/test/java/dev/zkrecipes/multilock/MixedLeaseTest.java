// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.spi.ForeignLock;
import dev.zkrecipes.core.spi.LockGroups;
import java.util.List;
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
}
