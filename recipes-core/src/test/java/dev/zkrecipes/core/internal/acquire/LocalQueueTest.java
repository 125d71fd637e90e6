// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.MutexDriver;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How a held node passes from request to request, and when there is another one. */
class LocalQueueTest extends LocalQueueScene {
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
    void requests_areServedInOrderOfArrival_withRisingTokens() {
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
    void abandonedRequest_isPassedOver() {
        List<Acquisition> all = queueing(3);
        all.get(1).giveUp();
        release(granted(all.get(0)));
        release(granted(all.get(2)));
        assertLeftNothing();
    }

    /** The thread that hands a node over stands still before it has said so, and the next holder is done with it. */
    @Test
    @Tag("H125")
    void servedRequestThatIsStillCounted_needsNoNode() {
        List<Acquisition> all = queueing(2);
        Completion.on(all.get(1).outcome(), (grants, failure) -> {
            release(grants.orElseThrow().get(0));
            for (int i = 0; i < 100 && scheduler.hasTasks(); i++) {
                scheduler.runOne();
            }
        });
        release(granted(all.get(0)));
        assertThat(operations.requests()).containsExactly(Request.DELETE);
        assertLeftNothing();
    }

    @Test
    void givingUpAfterTheGrant_isTooLate_andItsNodePassesOn() {
        List<Acquisition> all = queueing(3);
        release(granted(all.get(0)));
        assertThat(all.get(1).giveUp()).isFalse();
        release(granted(all.get(1)));
        assertThat(granted(all.get(2)).state()).isEqualTo(LeaseState.HELD);
    }

    /** User code runs when it completes, and must not run on the thread that releases. */
    @Test
    void asynchronousRequest_thatIsTheFirstWhenAnotherGivesUpMeanwhile_isServedOnTheEngineThread() {
        LockOptions options = LockOptions.defaults().localHandoffs(3).holdAtMost(Duration.ofHours(1));
        List<Acquisition> all = queueing(2, options);
        Acquisition asynchronous = launched(Mode.QUEUE, true, new MutexDriver(), options);
        scheduler.run();
        HeldNode first = granted(all.get(0));
        scheduler.uponNextTimer(() -> assertThat(all.get(1).giveUp()).isTrue()); // as the next holder is made
        release(first);
        assertThat(asynchronous.outcome()).as("on the releasing thread").isNotDone();
        scheduler.run();
        HeldNode next = granted(asynchronous);
        assertThat(next.nodePath()).isEqualTo(first.nodePath());
        assertThat(next.token()).isGreaterThan(first.token());
        release(next);
        assertLeftNothing();
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
    void lockAcquiredByATry_isPassedOnToo() {
        Acquisition tried = launched(Mode.TRY, false, new MutexDriver(), OPTIONS);
        scheduler.run();
        Acquisition waiter = queueing(1).get(0);
        release(granted(tried));
        assertThat(granted(waiter).nodePath()).isEqualTo(granted(tried).nodePath());
        release(granted(waiter));
        assertLeftNothing();
    }

    @Test
    void try_neitherWaitsNorOvertakes() {
        List<Acquisition> all = queueing(2);
        Acquisition tried = launched(Mode.TRY, false, new MutexDriver(), OPTIONS);
        scheduler.run();
        assertThat(tried.outcome()).isCompletedWithValueMatching(grants -> grants.isEmpty());
        assertThat(all.get(1).outcome()).isNotDone();
    }

    @Test
    void locksOfOtherOptions_haveNodesOfTheirOwn() {
        HeldNode held = granted(queueing(1).get(0));
        Acquisition other = queueing(1, OPTIONS.localHandoffs(3)).get(0);
        assertThat(fixture.ours()).hasSize(2);
        release(held);
        assertThat(other.outcome()).isNotDone();
        scheduler.run();
        assertThat(granted(other).nodePath()).isNotEqualTo(held.nodePath());
    }

    @Test
    void newRequestServedByALine_doesNotWakeTheEngine() {
        HeldNode held = granted(queueing(1).get(0));
        Acquisition brief = launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS);
        brief.giveUp(); // before the engine has looked
        scheduler.run();
        launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS);
        assertThat(scheduler.hasTasks()).isFalse();
        release(held);
        assertThat(scheduler.hasTasks()).isFalse();
    }

    @Test
    void newRequestBesideASecondNode_doesNotWakeTheEngine() {
        List<Acquisition> all = new ArrayList<>(queueing(4));
        assertThat(fixture.ours()).hasSize(2);
        all.add(launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS));
        assertThat(scheduler.hasTasks()).isFalse();
        for (Acquisition request : all) {
            release(granted(request));
            scheduler.run();
        }
        assertLeftNothing();
    }

    @Test
    void newRequestWhileTheSecondNodeIsGivenUp_isServed() {
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

    @Test
    void linesThatServeJustAllThatWait_areEnough() {
        HeldNode held = granted(queueing(1).get(0));
        queueing(1);
        launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS); // the second of two that it serves
        assertThat(scheduler.hasTasks()).isFalse();
        launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS);
        assertThat(scheduler.hasTasks()).isTrue();
        assertThat(held.state()).isEqualTo(LeaseState.HELD);
    }

    @Test
    void secondNode_isGivenUpWhenTheFirstHasServedAll() {
        List<Acquisition> all = queueing(4);
        all.get(3).giveUp();
        scheduler.run();
        assertThat(fixture.ours()).hasSize(2);
        release(granted(all.get(0)));
        release(granted(all.get(1)));
        scheduler.run();
        assertThat(fixture.ours()).hasSize(1);
        release(granted(all.get(2)));
        assertLeftNothing();
    }

    @Test
    void waiter_isSeenBusy_whenSomethingIsKnownToHold() {
        scheduler.run();
        operations.add(AcquireFixture.OTHER);
        operations.delayAnswerOf(Request.LIST, Duration.ofSeconds(1));
        Acquisition first = launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS);
        assertThat(first.wasSeenBusy()).as("nothing was asked").isFalse();
        scheduler.run();
        assertThat(first.wasSeenBusy()).as("nothing was answered").isFalse();
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(first.wasSeenBusy()).as("another is in front").isTrue();
        operations.remove(AcquireFixture.OTHER);
        scheduler.run();
        HeldNode held = granted(first);
        assertThat(first.wasSeenBusy()).as("it waits no more").isFalse();

        Acquisition second = queueing(1).get(0);
        assertThat(second.wasSeenBusy()).as("this client holds it").isTrue();
        second.giveUp();
        assertThat(second.wasSeenBusy()).as("it waits no more").isFalse();
        release(held);
        assertLeftNothing();
    }

    @Test
    void request_tellsItsPath() {
        Acquisition request = queueing(1).get(0);
        assertThat(request.lockPath()).isEqualTo(AcquireFixture.PATH);
        assertThat(request.paths()).containsExactly(AcquireFixture.PATH);
        assertThat(fixture.engine.acquisitions().localQueues().isEmpty()).isFalse();
    }

    @Test
    void nodeGrantedWhenTheLastRequestHasLeft_isGivenBack() {
        scheduler.run();
        operations.requests();
        Acquisition request = launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS);
        List<Request> sent = new ArrayList<>();
        while (!sent.contains(Request.LIST)) {
            scheduler.runOne();
            sent.addAll(operations.requests());
        }
        request.giveUp(); // the answer that grants it comes first
        scheduler.run();
        assertThat(operations.deleted()).hasSize(1);
        assertLeftNothing();
    }

    /** Threads that time out again and again behind a holder that stays. */
    @Test
    void requestsThatGaveUp_areForgotten_thoughOthersWait() {
        HeldNode held = granted(queueing(1).get(0));
        Acquisition staying = queueing(1).get(0);
        List<WeakReference<Acquisition>> abandoned = abandoned(2);
        scheduler.run();
        Awaitility.await().untilAsserted(() -> {
            System.gc();
            assertThat(abandoned).allMatch(request -> request.refersTo(null));
        });
        release(held);
        release(granted(staying));
        assertLeftNothing();
    }

    private List<WeakReference<Acquisition>> abandoned(int count) {
        return queueing(count).stream()
                .peek(Acquisition::giveUp)
                .map(WeakReference::new)
                .toList();
    }

    @Test
    void watchOfANodeThatIsGoneUntold_ends() {
        HeldNode held = granted(queueing(1).get(0));
        queueing(1).get(0).giveUp();
        scheduler.run();
        String name = LockPath.name(held.nodePath());
        assertThat(operations.watched()).contains(name);
        operations.removeUntold(name);
        release(held);
        scheduler.run();
        assertThat(held.gone()).isCompleted();
        assertThat(held.session().watches().isEmpty()).isTrue();
    }

    @Test
    @Tag("H97")
    void errorWhileANodeIsAskedFor_failsOneRequest_andTheOthersAreServed() {
        scheduler.run();
        List<Acquisition> all = List.of(
                launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS),
                launched(Mode.QUEUE, false, new MutexDriver(), OPTIONS));
        while (!all.get(0).outcome().isDone()) {
            scheduler.refuseNextTask();
            scheduler.advanceInSpiteOfErrors(Duration.ofMillis(1));
        }
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(all.get(0).outcome()).isCompletedExceptionally();
        release(granted(all.get(1)));
        assertLeftNothing();
    }
}
