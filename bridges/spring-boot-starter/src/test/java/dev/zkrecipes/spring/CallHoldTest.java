// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.spi.LockInternals;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

class CallHoldTest {
    private final Lease lease = Mockito.mock();
    private final LockInternals lock = Mockito.mock();
    private final Runnable forget = Mockito.mock();
    private final Set<CallHold> open = new HashSet<>();

    private CallHold hold(String method) {
        Mockito.when(lease.path()).thenReturn("/orders/7");
        Mockito.when(lease.state()).thenReturn(LeaseState.HELD);
        Mockito.when(lock.endBeforeClient(Mockito.any())).thenReturn(forget);
        return new CallHold(lock, lease, method, open);
    }

    /** Spring would log it as an error that says nothing of the lock. */
    @Test
    @Tag("H132")
    void holdThatATransactionCannotGiveBack_isOneWarning_withLockAndThread() throws InterruptedException {
        CallHold hold = hold("Orders.pay");
        Mockito.doThrow(new LockAccessException("/orders/7: not allowed"))
                .when(lease)
                .close();
        Thread reaper = new Thread(hold::closeWithTransaction);
        PrintStream terminal = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            reaper.start();
            reaper.join();
        } finally {
            System.setErr(terminal);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .containsOnlyOnce("WARN")
                .contains("The lock /orders/7 of Orders.pay, acquired by the thread "
                        + Thread.currentThread().getName() + ", could not be given back")
                .contains("not allowed");
        assertThat(open).isEmpty();
        Mockito.verify(forget).run();
    }

    /** A call that is granted while the client closes would work on without its lock. */
    @Test
    void callThatBeginsWhileTheClientCloses_givesTheLockBack() {
        Mockito.when(lock.endBeforeClient(Mockito.any())).thenThrow(new ClientClosedException("closing"));
        assertThatThrownBy(() -> new CallHold(lock, lease, "Orders.pay", open))
                .isInstanceOf(ClientClosedException.class);
        Mockito.verify(lease).close();
        assertThat(open).isEmpty();
    }

    @Test
    @Tag("H132")
    void methodThatOutlivesItsTransaction_isToldThatItHasNoLock() {
        CallHold hold = hold("Orders.pay");
        hold.requireHeldUntilNow();
        hold.closeWithTransaction();
        assertThatThrownBy(hold::requireHeldUntilNow)
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("the lock /orders/7 was given back with the transaction while Orders.pay ran");
    }

    /** A transaction of its own inside of the method, for example. */
    @Test
    @Tag("H135")
    void everyMethodThatRunsOnTheThread_isAskedBeforeACommit() {
        CallHold outer = hold("Orders.outer");
        Lease other = Mockito.mock();
        Mockito.when(other.state()).thenReturn(LeaseState.SUSPENDED);
        CallHold inner = new CallHold(lock, other, "Orders.inner", open);
        outer.enter();
        inner.enter();
        CallHold.requireNoneLostBeforeCommit();
        Mockito.when(lease.state()).thenReturn(LeaseState.LOST);
        assertThatThrownBy(CallHold::requireNoneLostBeforeCommit)
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("Orders.outer");
        inner.leave();
        outer.leave();
        CallHold.requireNoneLostBeforeCommit();
    }
}
