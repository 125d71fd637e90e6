// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static com.google.common.base.Preconditions.checkState;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

/** What becomes of the holder and of those who wait when a node is lost, asked for, refused, or not proven. */
class LocalQueueLossTest extends LocalQueueScene {
    @Test
    void endOfTheSession_losesTheHolder_andTheOthersWaitInTheNextSession() {
        List<Acquisition> all = queueing(3);
        HeldNode held = granted(all.get(0));
        fixture.become(State.EXPIRED);
        scheduler.run();
        assertThat(held.state()).isEqualTo(LeaseState.LOST);
        release(held);
        scheduler.run();
        release(granted(all.get(1)));
        assertThat(granted(all.get(2)).session()).isNotEqualTo(held.session());
    }

    @Test
    void endOfTheSession_failsWaitersWithPolicyFail_eachByItsOwnError() {
        List<Acquisition> all = queueing(3, OPTIONS.withQueueLossPolicy(QueueLossPolicy.FAIL));
        fixture.become(State.EXPIRED);
        scheduler.run();
        List<Throwable> told = all.subList(1, 3).stream()
                .map(request ->
                        request.outcome().handle((value, failure) -> failure).join())
                .toList();
        assertThat(told).allMatch(QueuePlaceLostException.class::isInstance).doesNotHaveDuplicates();
    }

    @Test
    void lossOfAnEarlierHoldersNode_isThePresentHolders() {
        List<Acquisition> all = queueing(2);
        HeldNode first = granted(all.get(0));
        release(first);
        HeldNode second = granted(all.get(1));
        List<LeaseState> told = new ArrayList<>();
        first.attach((node, how) -> told.add(how));
        first.lose("deleted");
        assertThat(first.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(second.state()).isEqualTo(LeaseState.LOST);
        second.attach((node, how) -> told.add(how));
        assertLeftNothing();
        assertThat(told).containsExactly(LeaseState.RELEASED, LeaseState.LOST);
    }

    @Test
    void loss_whileNobodyHasTheNode_reachesNobody_andTheNextQueuesAgain() {
        HeldNode held = granted(queueing(1).get(0));
        Acquisition next = launched(Mode.QUEUE, true, new MutexDriver(), OPTIONS);
        scheduler.run();
        release(held); // to be passed on by the engine, which hears of the loss first
        held.lose("deleted");
        scheduler.run();
        assertThat(granted(next).nodePath()).isNotEqualTo(held.nodePath());
        assertThat(granted(next).state()).isEqualTo(LeaseState.HELD);
    }

    @Test
    void unprovenLease_isNotPassedOn() {
        List<Acquisition> all = queueing(2);
        fixture.become(State.DISCONNECTED);
        scheduler.run();
        release(granted(all.get(0)));
        scheduler.run();
        assertThat(all.get(1).outcome()).isNotDone();
        fixture.become(State.CONNECTED);
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(granted(all.get(1)).nodePath())
                .isNotEqualTo(granted(all.get(0)).nodePath());
    }

    @Test
    void closedClient_tellsEverybody() {
        List<Acquisition> all = queueing(5);
        fixture.client.close();
        scheduler.advance(Duration.ofSeconds(20));
        assertThat(all.subList(1, 5))
                .allSatisfy(request ->
                        assertThatThrownBy(request.outcome()::join).hasCauseInstanceOf(ClientClosedException.class));
        assertThat(fixture.engine.acquisitions().localQueues().isEmpty()).isTrue();
        assertThat(fixture.engine.requests().open()).isEmpty();
        Acquisition late = launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS);
        assertThat(late.outcome()).isCompletedExceptionally();
        assertThat(fixture.engine.acquisitions().localQueues().isEmpty()).isTrue();
    }

    @Test
    void refusal_isTheFirstOnes_andTheNextAsksForItself() {
        scheduler.run();
        operations.refuse(Request.CREATE, Code.NOAUTH);
        List<Acquisition> all = queueing(2);
        assertThatThrownBy(all.get(0).outcome()::join).hasCauseInstanceOf(LockAccessException.class);
        release(granted(all.get(1)));
        assertLeftNothing();
    }

    @Test
    void placeLostBeforeAnyGrant_failsAllThatWaitWithPolicyFail() {
        scheduler.run();
        operations.add(AcquireFixture.OTHER);
        List<Acquisition> all = queueing(3, OPTIONS.withQueueLossPolicy(QueueLossPolicy.FAIL));
        fixture.become(State.EXPIRED);
        scheduler.run();
        assertThat(all)
                .allSatisfy(request ->
                        assertThatThrownBy(request.outcome()::join).hasCauseInstanceOf(QueuePlaceLostException.class));
        operations.remove(AcquireFixture.OTHER);
        assertLeftNothing();
    }

    /** A driver's own error, as it decides whether the node at hand suffices. */
    @Test
    void failureWhileTheQueueIsLookedAt_isTheFirstOnes() {
        AtomicBoolean broken = new AtomicBoolean(true);
        LockDriver driver = new FailingDriver(broken);
        scheduler.run();
        Acquisition holder = launched(Mode.QUEUE, false, driver, OPTIONS);
        scheduler.run();
        Acquisition first = launched(Mode.QUEUE, false, driver, OPTIONS);
        Acquisition second = launched(Mode.QUEUE, true, driver, OPTIONS);
        scheduler.runOne();
        assertThatThrownBy(first.outcome()::join).hasCauseInstanceOf(LockException.class);
        broken.set(false);
        scheduler.run();
        release(granted(holder));
        scheduler.run();
        release(granted(second));
        assertLeftNothing();
    }

    /** A mutex whose driver fails at will when it is asked about a newcomer. */
    private record FailingDriver(AtomicBoolean broken) implements FifoDriver {
        @Override
        public String nodeName() {
            return "lock-";
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parse(childName, nodeName());
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            checkState(!broken.get() || self.number() != LockNode.LAST_NUMBER, "broken driver");
            return predecessors.isEmpty() ? Decision.granted() : Decision.waitFor(predecessors);
        }
    }

    // ---- Requests to give back.

    @Test
    void nodeUnderRevocation_isNotPassedOn() {
        List<Acquisition> all = queueing(2);
        HeldNode held = granted(all.get(0));
        String name = fixture.newest();
        assertThat(operations.watched()).contains(name); // since somebody waits
        operations.change(name, "zkrecipes 1\nrevoke=0123456789abcdef0123456789abcdef - other\n".getBytes(UTF_8));
        scheduler.run();
        assertThat(fixture.ours()).hasSize(2); // the next one's already
        operations.change(fixture.newest(), new byte[0]);
        release(held);
        assertThat(all.get(1).outcome()).isNotDone();
        scheduler.run();
        assertThat(operations.deleted()).containsExactly(name);
        assertThat(granted(all.get(1)).nodePath()).isNotEqualTo(held.nodePath());
    }

    @Test
    void nodeRevokedOnItsWayToTheNextHolder_isGivenBack() {
        HeldNode held = granted(queueing(1).get(0));
        Acquisition next = launched(Mode.QUEUE, true, new MutexDriver(), OPTIONS);
        scheduler.run();
        release(held); // to be passed on by the engine
        held.noteRequests(true);
        scheduler.run();
        assertThat(granted(next).nodePath()).isNotEqualTo(held.nodePath());
    }
}
