// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A thread has released several nodes, and the engine hears of the end of all before it comes to that. */
@Tag("H86")
class ReleasedAsTheSessionEndsTest extends AcquireFixture {
    private Grant held = Grant.of(List.of());

    @BeforeEach
    void acquire() {
        AcquireLoop loop = launched(together(LockOptions.defaults(), "/locks/a", "/locks/b"), Mode.QUEUE);
        scheduler.run();
        assertGranted(loop);
        held = loop.outcome().join().orElseThrow();
        operations.requests();
    }

    @Test
    void nodesOfASessionThatEnds_areDeletedOnce_andNothingElseEnds() {
        held.release();
        become(State.EXPIRED);
        become(State.CONNECTED);
        scheduler.advance(timeout.multipliedBy(4));
        assertThat(scheduler.failure()).isEmpty();
        assertThat(held.nodes()).allSatisfy(node -> assertThat(node.gone()).isCompleted());
    }

    @Test
    void nodesOfAClientThatIsClosed_areDeletedOnce() {
        scheduler.execute(client::close); // gives its task
        scheduler.execute(() -> held.release()); // a thread that releases just before that task
        scheduler.advance(timeout.multipliedBy(4));
        assertThat(scheduler.failure()).isEmpty();
        assertThat(operations.requests().size()).isLessThanOrEqualTo(2);
        assertThat(held.nodes()).allSatisfy(node -> assertThat(node.gone()).isCompleted());
    }
}
