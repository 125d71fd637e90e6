// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.COLLECTION;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.lock.EngineLock;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A lease that is closed while its node is lost says the same everywhere, and that is what became of its node. */
@Tag("H126")
class HoldEndTest extends ClientScene {
    private final List<String> told = new ArrayList<>();
    private final EngineLock lock = EngineLock.behind(
                    internals("/locks/orders", LockOptions.defaults()).instanceOwned())
            .orElseThrow();
    private Hold held;

    @BeforeEach
    void hold() throws InterruptedException {
        held = (Hold) lock.acquire();
    }

    private HeldNode node() {
        return (HeldNode) held.grant().first();
    }

    /** A hold on the node where something happens between the decision to close and the release. */
    private Hold sameWith(Runnable meanwhile) {
        Held interrupted = HeldWith.beforeRelease(node(), meanwhile);
        Hold same = Hold.open(lock, Grant.of(interrupted), held.data(), null);
        same.onLost(() -> told.add("lost"));
        return same;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nodeThatIsLostWhileItsLeaseIsClosed_makesTheLeaseLost_andIsToldOnce(boolean isToldMeanwhile) {
        Hold lease = sameWith(() -> {
            node().lose("played");
            if (isToldMeanwhile) {
                scheduler.run();
            }
        });
        lease.beginClosing(false);
        scheduler.run();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(lease.ended()).isCompletedWithValue(LeaseState.LOST);
        assertThat(told).containsExactly("lost");
    }

    /** The closing thread has seen no loss, so it decides as if there were none. */
    @Test
    void lossThatIsToldWhileTheLeaseIsClosed_isLeftToTheClosingThread() {
        Hold[] same = new Hold[1];
        same[0] = sameWith(() -> same[0].onLost(node()));
        same[0].beginClosing(false);
        scheduler.run();
        assertThat(same[0].state()).isEqualTo(LeaseState.RELEASED);
        assertThat(same[0].ended()).isCompletedWithValue(LeaseState.RELEASED);
        assertThat(told).isEmpty();
    }

    /** The thread that has ended the part looked for its listener before there was one. */
    @Test
    void listenerOfAPartThatIsLostAlready_isToldAtOnce() {
        node().lose("played");
        scheduler.run();
        node().attach(part -> told.add("lost"));
        assertThat(told).containsExactly("lost");
    }

    /** An error of the engine may have kept the cleaner from taking it. */
    @Test
    void abandonedNode_isNotWaitedFor() {
        node().abandon();
        assertThat(node().gone()).isCompleted();
        assertThat(held.state()).isEqualTo(LeaseState.LOST);
    }

    @Test
    void lostLeaseThatIsClosedBeforeAnotherOnItsNode_staysLost() {
        LockData ofThread = LockData.ofThread(Thread.currentThread(), () -> 0, useless -> {});
        Hold first = Hold.open(lock, held.grant(), ofThread, null);
        Hold second = Hold.open(lock, held.grant(), ofThread, null);
        node().lose("played");
        second.beginClosing(false);
        assertThat(second.state()).isEqualTo(LeaseState.LOST);
        assertThat(second.ended()).isCompletedWithValue(LeaseState.LOST);
        assertThat(first.isClosed()).isFalse();
    }

    @Test
    void nodeThatIsLostAfterItsLeaseIsClosed_leavesItReleased() {
        Hold lease = sameWith(() -> {});
        lease.beginClosing(false);
        node().lose("played");
        scheduler.run();
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(lease.ended()).isCompletedWithValue(LeaseState.RELEASED);
        assertThat(told).isEmpty();
    }

    /** Whichever of the two comes first to each step. */
    @Test
    @Tag("H150")
    void closeThatMeetsAnotherOfTheSameLease_leavesNothingHeld() {
        List<LeaseState> states = new ArrayList<>();
        Hold[] same = new Hold[1];
        boolean[] isNested = new boolean[1];
        same[0] = sameWith(() -> {
            if (!isNested[0]) {
                isNested[0] = true;
                assertThat(same[0].beginClosing(false)).isFalse();
                states.add(same[0].state());
            }
        });
        assertThat(same[0].beginClosing(false)).isTrue();
        scheduler.run();
        assertThat(states).containsExactly(LeaseState.RELEASED);
        assertThat(same[0].state()).isEqualTo(LeaseState.RELEASED);
        assertThat(same[0].ended()).isCompletedWithValue(LeaseState.RELEASED);
        assertThat(same[0].closeAsync()).isCompleted();
    }

    /** What throws in the middle leaves no node that nobody gives back: the engine ends the client. */
    @Test
    @Tag("H136")
    void closeThatDiesInTheMiddle_endsTheClient() {
        Hold lease = sameWith(() -> {
            throw new StackOverflowError("played");
        });
        assertThatThrownBy(() -> lease.beginClosing(false)).isInstanceOf(StackOverflowError.class);
        PrintedWhile.running(() -> scheduler.advance(Duration.ofSeconds(1)));
        assertThat(operations.isClosed()).isTrue();
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CLOSED);
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    }

    /** A thread that has ended the grant and died before it could tell the engine. */
    @Test
    @Tag("H136")
    void nodeThatHasEnded_andNobodyDeletes_isDeletedByWhatWouldRenewIt() {
        scheduler.refuseNextTask();
        assertThatThrownBy(() -> node().release(false)).isInstanceOf(InternalError.class);
        scheduler.run();
        assertThat(operations.nodes()).hasSize(1);
        scheduler.advance(operations.sessionTimeout().dividedBy(6));
        assertThat(operations.nodes()).isEmpty();
    }

    /** As much as for each of them, not as for each pair of them: that would be a gigabyte. */
    @Test
    void tenThousandLeasesOfOnePath_takeLittleMemoryToLoseAndToClose() {
        LockData data = LockData.ofInstance(() -> 0);
        Held ended = HeldWith.beforeRelease(node(), () -> {});
        List<Hold> leases = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            Hold opened = new Hold(lock, Grant.of(ended), data);
            data.opened(opened);
            leases.add(opened);
        }
        assertThat(data.count(lock.group())).isEqualTo(10_000);
        long before = allocated();
        leases.forEach(data::lose); // the oldest first, as a session's end does
        Hold youngest = leases.remove(9_999);
        leases.forEach(lease -> lease.beginClosing(false));
        assertThat(allocated() - before).isLessThan(50_000_000);
        assertThat(data)
                .as("what is closed is not kept")
                .extracting("open", MAP)
                .satisfies(open -> assertThat(open.get(lock.path()))
                        .asInstanceOf(COLLECTION)
                        .hasSize(1));
        youngest.beginClosing(false);
        assertThat(data.count(lock.group())).isZero();
        assertThat(data.youngest(lock.group())).isNull();
    }

    private static long allocated() {
        return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
    }

    @Test
    void leasesOfOnePath_closedInAnyOrder_leaveThoseThatAreOpen() {
        LockData data = LockData.ofInstance(() -> 0);
        Held ended = HeldWith.beforeRelease(node(), () -> {});
        List<Hold> open = new ArrayList<>();
        Random order = new Random(7);
        for (int i = 0; i < 2_000; i++) {
            if (order.nextInt(5) < 3) {
                Hold opened = new Hold(lock, Grant.of(ended), data);
                data.opened(opened);
                open.add(opened);
            } else if (!open.isEmpty()) {
                Hold closed = open.remove(order.nextInt(open.size()));
                if (order.nextBoolean()) {
                    data.lose(closed);
                }
                closed.beginClosing(false);
                if (order.nextBoolean()) {
                    data.lose(closed); // as a thread that saw the loss before the close, and comes late
                }
            }
            assertThat(data.count(lock.group())).isEqualTo(open.size());
        }
        open.forEach(hold -> hold.beginClosing(false));
        assertThat(data).as("nothing is left").extracting("open", MAP).isEmpty();
        assertThat(data).as("nothing is noted").extracting("lost.losses", MAP).isEmpty();
    }
}
