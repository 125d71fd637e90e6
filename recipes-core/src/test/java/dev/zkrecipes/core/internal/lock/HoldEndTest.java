// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.node.Held;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lease that is closed while its node is lost says the same everywhere, and that is what became of its node. */
@Tag("H126")
class HoldEndTest {
    private final WaitingScheduler scheduler = new WaitingScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler.engine);
    private final ZooKeeperClient client = Ports.clientBuilder(states -> operations, scheduler)
            .callbackExecutor(Runnable::run)
            .build();
    private final List<String> told = new ArrayList<>();
    private final EngineLock lock = EngineLock.behind(
                    new LockInternals(client, "/locks/orders", new MutexDriver(), LockOptions.defaults())
                            .instanceOwned())
            .orElseThrow();
    private Hold held;

    @BeforeEach
    void hold() throws InterruptedException {
        held = (Hold) lock.acquire();
    }

    private HeldNode node() {
        return (HeldNode) held.grants().get(0);
    }

    /** A hold on the node where something happens between the decision to close and the release. */
    private Hold sameWith(Runnable meanwhile) {
        Held interrupted = HeldWith.beforeRelease(node(), meanwhile);
        Hold same = Hold.open(lock, List.of(interrupted), held.data(), null);
        same.onLost(() -> told.add("lost"));
        return same;
    }

    @Test
    void nodeThatIsLostWhileItsLeaseIsClosed_makesTheLeaseLost() {
        Hold lease = sameWith(() -> node().lose("played"));
        lease.beginClosing(false);
        scheduler.engine.run();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(lease.ended()).isCompletedWithValue(LeaseState.LOST);
        assertThat(told).containsExactly("lost");
    }

    @Test
    void lossThatIsHeardOfWhileTheLeaseIsClosed_isToldOnce() {
        Hold lease = sameWith(() -> {
            node().lose("played");
            scheduler.engine.run();
        });
        lease.beginClosing(false);
        scheduler.engine.run();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(lease.ended()).isCompletedWithValue(LeaseState.LOST);
        assertThat(told).containsExactly("lost");
    }

    @Test
    void nodeThatIsLostAfterItsLeaseIsClosed_leavesItReleased() {
        Hold lease = sameWith(() -> {});
        lease.beginClosing(false);
        node().lose("played");
        scheduler.engine.run();
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(lease.ended()).isCompletedWithValue(LeaseState.RELEASED);
        assertThat(told).isEmpty();
    }
}
