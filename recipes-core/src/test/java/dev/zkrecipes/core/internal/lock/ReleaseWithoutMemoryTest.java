// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
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
    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final ZooKeeperClient client = PortClientBuilder.on(states -> operations, scheduler)
            .callbackExecutor(Runnable::run)
            .build();
    private final Lease lease = acquired();

    private Lease acquired() {
        CompletableFuture<Lease> wanted = new LockInternals(
                        client, "/locks/orders", new MutexDriver(), LockOptions.defaults())
                .threadOwned()
                .acquireAsync();
        scheduler.run();
        return wanted.join();
    }

    private void assertGoesSoon() {
        assertThat(lease.state()).isNotEqualTo(LeaseState.HELD);
        assertThat(operations.nodes()).hasSize(1);
        scheduler.advance(operations.sessionTimeout().dividedBy(2));
        assertThat(operations.nodes()).isEmpty();
        acquired();
    }

    @Test
    void engineThatWasNotTold_deletesTheNode() {
        CompletableFuture<LeaseState> ended = lease.ended();
        scheduler.refuseNextTask();
        assertThatThrownBy(lease::close).isInstanceOf(InternalError.class);
        assertGoesSoon();
        assertThat(ended).isCompletedWithValue(LeaseState.RELEASED);
    }

    @Test
    void threadThatDiesBeforeItGivesBack_doesSoAllTheSame() {
        Hold.Origin dying = mock(Hold.Origin.class);
        when(dying.giveBack(any())).thenThrow(new InternalError("played: no memory"));
        Hold hold = (Hold) lease;
        Hold sharing = new Hold(dying, hold.grants(), hold.data());
        when(dying.group()).thenReturn(hold.group());
        assertThatThrownBy(sharing::closeAsync).isInstanceOf(InternalError.class);
        assertThat(sharing.state()).isEqualTo(LeaseState.RELEASED);
        assertGoesSoon();
    }
}
