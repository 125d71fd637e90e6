// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

/** How a held node passes from request to request, and when it does not. */
class LocalQueueTest {
    private static final LockOptions OPTIONS = LockOptions.defaults().withLocalHandoffs(2);

    private final AcquireFixture fixture = new AcquireFixture();
    private final ManualScheduler scheduler = fixture.scheduler;
    private final ScriptedOperations operations = fixture.operations;

    private Acquisition launched(Mode mode, boolean isAsynchronous, LockDriver driver, LockOptions options) {
        Acquisition request = fixture.engine
                .requests()
                .acquisition(LockGroup.of(fixture.spec(driver, options)), mode, isAsynchronous);
        request.launch();
        return request;
    }

    /** Requests that came in this order and went on as far as they can. */
    private List<Acquisition> queueing(int count, LockOptions options) {
        scheduler.run();
        List<Acquisition> all = Stream.generate(() -> launched(Mode.QUEUE, false, new MutexDriver(), options))
                .limit(count)
                .toList();
        scheduler.run();
        operations.requests();
        return all;
    }

    private List<Acquisition> queueing(int count) {
        return queueing(count, OPTIONS);
    }

    private static HeldNode granted(Acquisition request) {
        assertThat(request.outcome()).isCompletedWithValueMatching(grants -> grants.isPresent());
        return request.outcome().join().orElseThrow().get(0);
    }

    private void release(HeldNode held) {
        HeldNode.release(List.of(held));
    }

    private void assertLeftNothing() {
        fixture.assertLeftNothing();
        assertThat(fixture.engine.requests().localQueues().isEmpty()).isTrue();
    }

    @Test
    void releasedNode_isTheNextOnesAtOnceAndWithoutARequest() {
        List<Acquisition> all = queueing(2);
        HeldNode first = granted(all.get(0));
        release(first);

        HeldNode second = granted(all.get(1)); // nothing has run on the engine meanwhile
        assertThat(second.nodePath()).isEqualTo(first.nodePath());
        assertThat(second.state()).isEqualTo(LeaseState.HELD);
        assertThat(first.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(first.gone()).isCompleted();
        scheduler.run();
        assertThat(operations.requests()).isEmpty();

        release(second);
        assertThat(second.gone()).isNotDone();
        assertLeftNothing();
        assertThat(second.gone()).isCompleted();
    }

    @Test
    void requests_areServedInTheOrderInWhichTheyCame_withRisingTokens() {
        List<Acquisition> all = queueing(5);
        List<Long> tokens = new ArrayList<>();
        for (Acquisition request : all) {
            scheduler.run();
            HeldNode held = granted(request);
            tokens.add(held.token());
            release(held);
        }
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
        assertThat(tokens.get(2) - tokens.get(0)).isEqualTo(2);
        assertLeftNothing();
    }

    @Test
    void node_passesOnAsOftenAsAllowed_thenSomebodyElseIsServedFirst() {
        List<Acquisition> all = queueing(3);
        List<Acquisition> late = queueing(1); // more than the node can serve: one more node, behind nobody yet
        assertThat(fixture.ours()).hasSize(2);
        release(granted(all.get(0)));
        release(granted(all.get(1)));
        HeldNode last = granted(all.get(2));
        assertThat(last.nodePath()).endsWith(fixture.ours().get(0));

        String front = fixture.ours().get(0);
        release(last);
        assertThat(late.get(0).outcome()).isNotDone();
        scheduler.run();
        assertThat(operations.deleted()).containsExactly(front);
        release(granted(late.get(0)));
        assertLeftNothing();
    }

    @Test
    void thereIsASecondNode_onlyWhileMoreWaitThanTheFirstCanServe() {
        queueing(1 + 2);
        assertThat(fixture.ours()).hasSize(1);
        List<Acquisition> more = queueing(2);
        assertThat(fixture.ours()).hasSize(2); // one for both
        queueing(10);
        assertThat(fixture.ours()).hasSize(2);
        assertThat(more).noneMatch(request -> request.outcome().isDone());
    }

    @Test
    void secondNode_isGivenUpWhenNobodyWaits() {
        List<Acquisition> all = queueing(4);
        assertThat(fixture.ours()).hasSize(2);
        all.subList(1, 4).forEach(request -> assertThat(request.giveUp()).isTrue());
        scheduler.run();
        assertThat(fixture.ours()).hasSize(1);
        release(granted(all.get(0)));
        assertLeftNothing();
    }

    @Test
    void whoHasGivenUp_isPassedOver() {
        List<Acquisition> all = queueing(3);
        all.get(1).giveUp();
        release(granted(all.get(0)));
        release(granted(all.get(2)));
        assertLeftNothing();
    }

    @Test
    void whoGivesUpAfterTheGrant_isToldSo_andItsNodePassesOn() {
        List<Acquisition> all = queueing(3);
        release(granted(all.get(0)));
        assertThat(all.get(1).giveUp()).isFalse();
        release(granted(all.get(1)));
        assertThat(granted(all.get(2)).state()).isEqualTo(LeaseState.HELD);
    }

    @Test
    void asynchronousRequest_isServedOnTheEngineThread() {
        HeldNode held = granted(queueing(1).get(0));
        List<Boolean> onEngine = new ArrayList<>();
        Acquisition next = launched(Mode.QUEUE, true, new MutexDriver(), OPTIONS);
        var told = next.outcome().thenRun(() -> onEngine.add(scheduler.isEngineThread()));
        scheduler.run();
        release(held);
        assertThat(told).isNotDone();
        scheduler.run();
        assertThat(onEngine).containsExactly(true);
        assertThat(granted(next).nodePath()).isEqualTo(held.nodePath());
    }

    @Test
    void whoTriesAndFindsItFree_passesItOnToo() {
        Acquisition tried = launched(Mode.TRY, false, new MutexDriver(), OPTIONS);
        scheduler.run();
        Acquisition waiter = queueing(1).get(0);
        release(granted(tried));
        assertThat(granted(waiter).nodePath()).isEqualTo(granted(tried).nodePath());
        release(granted(waiter));
        assertLeftNothing();
    }

    @Test
    void whoTries_neverWaitsNorOvertakes() {
        List<Acquisition> all = queueing(2);
        Acquisition tried = launched(Mode.TRY, false, new MutexDriver(), OPTIONS);
        scheduler.run();
        assertThat(tried.outcome()).isCompletedWithValueMatching(grants -> grants.isEmpty());
        assertThat(all.get(1).outcome()).isNotDone();
    }

    @Test
    void locksOfOtherOptions_haveNodesOfTheirOwn() {
        HeldNode held = granted(queueing(1).get(0));
        Acquisition other = queueing(1, OPTIONS.withLocalHandoffs(3)).get(0);
        assertThat(fixture.ours()).hasSize(2);
        release(held);
        assertThat(other.outcome()).isNotDone();
        scheduler.run();
        assertThat(granted(other).nodePath()).isNotEqualTo(held.nodePath());
    }

    @Test
    void lineThatServesWhoComes_isNotLookedAtForEachOfThem() {
        HeldNode held = granted(queueing(1).get(0));
        Acquisition brief = launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS);
        brief.giveUp(); // before the engine has looked
        scheduler.run();
        launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS);
        assertThat(scheduler.isIdle()).isTrue();
        release(held);
        assertThat(scheduler.isIdle()).isTrue();
    }

    @Test
    void whoComesWhileTheSecondNodeIsThere_isServedWithoutALookForEach() {
        List<Acquisition> all = new ArrayList<>(queueing(4));
        assertThat(fixture.ours()).hasSize(2);
        all.add(launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS));
        assertThat(scheduler.isIdle()).isTrue();
        for (Acquisition request : all) {
            release(granted(request));
            scheduler.run();
        }
        assertLeftNothing();
    }

    @Test
    void whoComesJustAsTheSecondNodeIsGivenUp_isServed() {
        List<Acquisition> all = queueing(4);
        all.subList(1, 4).forEach(Acquisition::giveUp);
        List<Acquisition> late = new ArrayList<>();
        scheduler.runOne(); // sees that nobody waits
        late.add(launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS));
        scheduler.run();
        release(granted(all.get(0)));
        scheduler.run();
        release(granted(late.get(0)));
        assertLeftNothing();
    }

    // ---- Loss.

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
    void endOfTheSession_endsTheWaitOfThoseWhoAskedForThat_andEachHasAnErrorOfItsOwn() {
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
        first.attach(told::add);
        first.lose("deleted");
        assertThat(first.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(second.state()).isEqualTo(LeaseState.LOST);
        second.attach(told::add);
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
    void leaseThatIsNotProven_isNotPassedOn() {
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
        assertThat(fixture.engine.requests().localQueues().isEmpty()).isTrue();
        assertThat(fixture.engine.requests().open()).isEmpty();
        Acquisition late = launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS);
        assertThat(late.outcome()).isCompletedExceptionally();
        assertThat(fixture.engine.requests().localQueues().isEmpty()).isTrue();
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

    // ---- Requests to give back.

    @Test
    void nodeThatSomebodyAsksFor_isNotPassedOn() {
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
    void nodeThatIsAskedForWhileItIsOnItsWayToTheNext_isGivenBack() {
        HeldNode held = granted(queueing(1).get(0));
        Acquisition next = launched(Mode.QUEUE, true, new MutexDriver(), OPTIONS);
        scheduler.run();
        release(held); // to be passed on by the engine
        held.noteRequests(true);
        scheduler.run();
        assertThat(granted(next).nodePath()).isNotEqualTo(held.nodePath());
    }

    // ---- Shared rules.

    /** Serves in order, by the limit that the path had when it was listed. */
    private record OrderedLimit(LimitDriver limit) implements SharedRuleDriver, FifoDriver {
        @Override
        public String nodeName() {
            return limit.nodeName();
        }

        @Override
        public byte[] initialRule() {
            return limit.initialRule();
        }

        @Override
        public LockDriver under(byte[] rule) {
            return limit.under(rule);
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return limit.parse(childName);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return limit.decide(predecessors, self);
        }
    }

    private List<Acquisition> limited(int count, AtomicInteger limit) {
        scheduler.run();
        LockDriver driver = new OrderedLimit(new LimitDriver(limit));
        List<Acquisition> all = Stream.generate(() -> launched(Mode.QUEUE, false, driver, OPTIONS))
                .limit(count)
                .toList();
        scheduler.run();
        operations.requests();
        return all;
    }

    @Test
    void whatManyMayHold_isHeldByMany_andOneMoreNodeOnlyWhileARequestMayNeedIt() {
        List<Acquisition> all = limited(2, new AtomicInteger(2));
        assertThat(fixture.ours()).hasSize(2);
        assertThat(granted(all.get(0)).nodePath())
                .isNotEqualTo(granted(all.get(1)).nodePath());
    }

    @Test
    void permit_passesOn() {
        List<Acquisition> all = limited(4, new AtomicInteger(2));
        HeldNode second = granted(all.get(1));
        release(second);
        scheduler.run();
        assertThat(granted(all.get(2)).nodePath()).isEqualTo(second.nodePath());
        release(granted(all.get(2)));
        release(granted(all.get(0)));
        scheduler.run();
        release(granted(all.get(3)));
        assertLeftNothing();
    }

    @Test
    void permitThatWasGrantedBeforeTheLimitChanged_isNotPassedOn() {
        AtomicInteger limit = new AtomicInteger(2);
        List<Acquisition> all = limited(3, limit);
        limit.set(1);
        operations.change("orders");
        scheduler.run();
        release(granted(all.get(0)));
        scheduler.run();
        assertThat(all.get(2).outcome()).isNotDone();
        release(granted(all.get(1)));
        scheduler.run();
        release(granted(all.get(2)));
        assertLeftNothing();
    }

    @Test
    void permit_isNotPassedOnWhileTheLimitIsBeingRead() {
        AtomicInteger limit = new AtomicInteger(2);
        List<Acquisition> all = limited(3, limit);
        operations.delayAnswerOf(Request.WATCH, Duration.ofSeconds(1));
        operations.change("orders");
        scheduler.run();
        HeldNode held = granted(all.get(0));
        release(held);
        scheduler.run();
        assertThat(operations.deleted()).containsExactly(LockPath.name(held.nodePath()));
    }

    @Test
    void limitThatGrows_letsInWhoWaits() {
        AtomicInteger limit = new AtomicInteger(1);
        List<Acquisition> all = limited(3, limit);
        limit.set(3);
        operations.change("orders");
        scheduler.advance(Duration.ofSeconds(1));
        all.forEach(LocalQueueTest::granted);
    }
}
