// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.PortClientBuilder;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A thread that dies while it gives back, for want of memory: nobody else does the rest. */
@Tag("H119")
class ReleaseWithoutMemoryTest {
    private final WaitingScheduler scheduler = new WaitingScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler.engine);
    private final ZooKeeperClient client = PortClientBuilder.on(states -> operations, scheduler)
            .callbackExecutor(Runnable::run)
            .build();
    private final InterProcessLock lock =
            new LockInternals(client, "/locks/orders", new MutexDriver(), LockOptions.defaults()).threadOwned();

    @Test
    void leaseThatIsHalfClosed_endsItsClient() throws InterruptedException {
        Hold hold = (Hold) lock.acquire();
        Hold.Origin dying = mock(Hold.Origin.class);
        when(dying.group()).thenReturn(hold.group());
        when(dying.client()).thenReturn(EngineClient.of(client));
        when(dying.giveBack(any())).thenThrow(new InternalError("played: no memory"));
        Hold onTheSameNode = new Hold(dying, hold.grants(), new LockData(null));
        CompletableFuture<LeaseState> ended = onTheSameNode.ended().toCompletableFuture();
        assertThatThrownBy(onTheSameNode::closeAsync).isInstanceOf(InternalError.class);
        assertThat(onTheSameNode.state()).isEqualTo(LeaseState.LOST);
        scheduler.engine.run();
        assertThat(ended).isCompletedWithValue(LeaseState.LOST);
        assertThat(hold.state()).isEqualTo(LeaseState.LOST);
        assertThat(operations.isClosed()).isTrue();
        assertThatThrownBy(lock::acquire)
                .isInstanceOf(ClientClosedException.class)
                .hasRootCauseMessage("played: no memory");
    }
}
