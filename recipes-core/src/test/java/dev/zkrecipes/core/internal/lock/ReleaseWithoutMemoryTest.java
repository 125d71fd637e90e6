// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.PortClientBuilder;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A thread that dies while it gives back, for want of memory: its lease is RELEASED, so the node must go. */
@Tag("H119")
class ReleaseWithoutMemoryTest {
    private final WaitingScheduler scheduler = new WaitingScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler.engine);
    private final ZooKeeperClient client = PortClientBuilder.on(states -> operations, scheduler)
            .callbackExecutor(Runnable::run)
            .build();
    private final InterProcessLock lock =
            new LockInternals(client, "/locks/orders", new MutexDriver(), LockOptions.defaults()).threadOwned();

    private Lease acquired() {
        CompletableFuture<Lease> wanted = lock.acquireAsync();
        scheduler.engine.run();
        return wanted.join();
    }

    private void assertGoesSoon(Lease lease) {
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(operations.nodes()).hasSize(1);
        scheduler.engine.advance(operations.sessionTimeout().dividedBy(2));
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void engineThatWasNotTold_deletesTheNode() {
        Lease lease = acquired();
        CompletableFuture<LeaseState> ended = lease.ended().toCompletableFuture();
        scheduler.engine.refuseNextTask();
        assertThatThrownBy(lease::close).isInstanceOf(InternalError.class);
        assertGoesSoon(lease);
        assertThat(ended).isCompletedWithValue(LeaseState.RELEASED);
        acquired();
    }

    @Test
    void threadThatDiesBeforeItGivesBack_doesSoAllTheSame() throws InterruptedException {
        Hold hold = (Hold) lock.acquire();
        Hold.Origin dying = mock(Hold.Origin.class);
        when(dying.group()).thenReturn(hold.group());
        when(dying.giveBack(any())).thenThrow(new InternalError("played: no memory"));
        Hold onTheSameNode = new Hold(dying, hold.grants(), new LockData(null));
        assertThatThrownBy(onTheSameNode::closeAsync).isInstanceOf(InternalError.class);
        assertGoesSoon(onTheSameNode);
    }
}
