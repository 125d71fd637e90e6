// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.Held;
import dev.zkrecipes.core.internal.hold.HeldWith;
import dev.zkrecipes.core.internal.hold.Hold;
import dev.zkrecipes.core.internal.hold.LockData;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A thread that dies while it gives back or hands over, for want of memory: nobody else does the rest. */
@Tag("H119")
class ReleaseWithoutMemoryTest extends ClientScene {
    private final InterProcessLock lock = lock("/locks/orders");

    @Test
    void leaseThatIsHalfClosed_endsItsClient() throws InterruptedException {
        Hold hold = (Hold) lock.acquire();
        Held dying = HeldWith.beforeRelease(hold.grant().first(), () -> {
            throw new InternalError("played: no memory");
        });
        Hold onTheSameNode = new Hold(hold.lock(), Grant.of(dying), LockData.ofNobody());
        CompletableFuture<LeaseState> ended = onTheSameNode.ended().toCompletableFuture();
        assertThatThrownBy(onTheSameNode::closeAsync).isInstanceOf(InternalError.class);
        assertThat(onTheSameNode.state()).isEqualTo(LeaseState.LOST);
        scheduler.run();
        assertThat(ended).isCompletedWithValue(LeaseState.LOST);
        assertThat(hold.state()).isEqualTo(LeaseState.LOST);
        assertThat(operations.isClosed()).isTrue();
        assertThatThrownBy(lock::acquire)
                .isInstanceOf(ClientClosedException.class)
                .hasRootCauseMessage("played: no memory");
    }

    @Test
    void grantThatCannotBeHandedOver_endsTheClient() {
        scheduler.run();
        AsyncRequest request = new AsyncRequest(
                EngineLock.behind(lock).orElseThrow(),
                task -> {
                    throw new InternalError("played: no memory");
                },
                null,
                null);
        request.follow(
                CompletableFuture.completedFuture("granted"),
                granted -> {
                    throw new AssertionError("nobody could run this");
                },
                () -> {});
        scheduler.run();
        assertThat(request).isCompletedExceptionally();
        assertThat(operations.isClosed()).isTrue();
        assertThatThrownBy(lock::acquire)
                .isInstanceOf(ClientClosedException.class)
                .hasRootCauseMessage("played: no memory");
    }
}
