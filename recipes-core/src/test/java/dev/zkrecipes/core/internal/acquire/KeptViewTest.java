// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.clean.OwnNode;
import dev.zkrecipes.core.internal.client.LivingSessions;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.session.KeptView;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A queue that is known from before needs no list, until somebody else may have entered it. */
class KeptViewTest extends AcquireFixture {
    private static final String NAME = LockPath.name(PATH);

    private int timers; // before the first use

    /** The first use lists, and the second one sets the watch and lists behind it. */
    @BeforeEach
    void useTwice() {
        scheduler.run();
        timers = scheduler.timers();
        assertThat(cycle()).containsExactly(Request.CREATE, Request.LIST, Request.DELETE);
        assertThat(cycle()).containsExactly(Request.WATCH, Request.CREATE, Request.LIST, Request.DELETE);
    }

    private List<Request> cycle() {
        return cycle(LockGroup.of(spec(new TestDriver("lock-"))));
    }

    private void assertKnown() {
        assertThat(cycle()).containsExactly(Request.CREATE, Request.DELETE);
    }

    /** Sends the list behind the create: nothing is taken to be known. */
    private void assertListedAtOnce() {
        assertThat(cycle()).endsWith(Request.CREATE, Request.LIST, Request.DELETE);
    }

    @Test
    void knownQueue_isTwoRequests() {
        assertKnown();
        assertKnown();
    }

    @Test
    void freeTry_onAKnownQueue_listsOnce() {
        AcquireLoop loop = launched(Mode.TRY);
        scheduler.run();
        assertGranted(loop);
        assertThat(operations.requests()).containsExactly(Request.LIST, Request.CREATE);
    }

    @Test
    void ownNodeInFront_isWaitedForWithoutAList() {
        HeldNode held = assertGranted(queueing());
        operations.requests();
        AcquireLoop waiting = queueing();
        assertWaits(waiting);
        assertThat(operations.requests())
                .containsExactly(Request.CREATE, Request.WATCH_DELETION, Request.WATCH_DELETION);
        Grant.of(held).release();
        scheduler.run();
        assertGranted(waiting);
        assertThat(operations.requests()).containsExactly(Request.DELETE);
    }

    /** Otherwise the cost of each request would grow with the queue. */
    @Test
    void longQueueOfThisClient_isListedForAllOfItsRequestsTogether() {
        List<AcquireLoop> waiting = launchedTogether(200, new TestDriver("lock-"));
        scheduler.run();
        assertThat(waiting.get(199).isIn(AcquireLoop.Step.WAITING)).isTrue();
        assertThat(operations.requests()).filteredOn(Request.LIST::equals).hasSizeBetween(1, 3);
        queueing();
        assertThat(operations.requests()).startsWith(Request.CREATE, Request.LIST);
    }

    /** Somebody else has created a node: it is listed, which takes a round trip more, but not each time. */
    @Test
    @Tag("H154")
    void otherNumber_isListed_andTheNextAtOnce() {
        operations.add("lock-0000000003");
        AcquireLoop waiting = queueing();
        assertWaits(waiting);
        assertThat(operations.requests()).startsWith(Request.CREATE, Request.LIST);
        operations.remove("lock-0000000003");
        scheduler.run();
        Grant.of(assertGranted(waiting)).release();
        scheduler.run();
        operations.count(10);
        assertListedAtOnce();
        operations.count(20);
        assertListedAtOnce();
        assertListedAtOnce(); // the first that follows a node of ours
        assertKnown();
    }

    @Test
    @Tag("H155")
    void pathMadeAnew_isListed_thoughTheNumbersMeet() {
        operations.tellRemoved(NAME);
        operations.add(PATH, "lock-0000000000");
        AcquireLoop waiting = queueing(); // its number is the one that would follow
        assertWaits(waiting);
    }

    /** The next request may have to make the path again, so it counts as the first. */
    @Test
    @Tag("H155")
    void pathThatIsGone_isUsedForTheFirstTimeAgain() {
        operations.tellRemoved(NAME);
        scheduler.run();
        KeptView view = LivingSessions.of(engine).get(0).keptViews().use(PATH);
        assertThat(view.isNew()).isTrue();
    }

    /** The event comes between the create and its answer. */
    @Test
    @Tag("H155")
    void pathMadeAnew_whileTheCreateIsUnderWay_isListed() {
        AcquireLoop waiting = launched(Mode.QUEUE);
        operations.delayAnswerOf(Request.CREATE, Duration.ofMillis(10));
        scheduler.run();
        operations.add(PATH, "lock-0000000000");
        operations.tellRemoved(NAME);
        scheduler.advance(Duration.ofMillis(20));
        assertWaits(waiting);
    }

    @Test
    @Tag("H156")
    void anotherConnection_knowsNothing() {
        reconnect();
        scheduler.run();
        assertListedAtOnce();
        assertKnown();
    }

    @Test
    @Tag("H156")
    void watchThatWasSpent_makesTheListAnew() {
        operations.change(NAME);
        scheduler.run();
        operations.requests();
        assertListedAtOnce();
        assertKnown();
    }

    /** While the path is being read again, nobody would tell of its end. */
    @Test
    @Tag("H156")
    void watchThatIsNotSetYet_tellsNothing() {
        operations.delayAnswerOf(Request.WATCH, Duration.ofMillis(10));
        operations.change(NAME);
        scheduler.run();
        operations.requests();
        assertListedAtOnce();
        assertListedAtOnce();
        scheduler.advance(Duration.ofMillis(20));
        assertListedAtOnce();
        assertKnown();
    }

    @Test
    @Tag("H154")
    void createWithoutAnAnswer_leavesNothingKnown() {
        operations.loseAnswerOf(Request.CREATE);
        AcquireLoop loop = launched(Mode.QUEUE);
        scheduler.advance(Duration.ofSeconds(20));
        Grant.of(assertGranted(loop)).release();
        scheduler.run();
        operations.requests();
        assertListedAtOnce();
    }

    @Test
    @Tag("H157")
    void wornNumber_isRefused() {
        operations.count(OwnNode.WORN_OUT - 4);
        assertGranted(queueing());
        assertWaits(queueing()); // lists
        operations.requests();
        assertWaits(queueing());
        AcquireLoop worn = queueing();
        assertThat(operations.requests()).doesNotContain(Request.LIST);
        assertThat(worn.outcome()).isCompletedExceptionally();
    }

    /** A list that lacks our node is older than the node, and may lack others, too. */
    @Test
    @Tag("H154")
    void listWithoutOurNode_isNotKept() {
        reconnect();
        scheduler.run();
        operations.show(names -> List.of());
        AcquireLoop loop = queueing();
        scheduler.advance(Duration.ofSeconds(5));
        assertThat(loop.outcome()).isNotDone();
    }

    @Test
    void severalPaths_areKnownTogether() {
        LockGroup group = together(LockOptions.defaults(), "/locks/a", "/locks/b");
        assertThat(cycle(group)).containsExactly(Request.MULTI, Request.LIST, Request.MULTI);
        assertThat(cycle(group))
                .containsExactly(Request.WATCH, Request.WATCH, Request.MULTI, Request.LIST, Request.MULTI);
        assertThat(cycle(group)).containsExactly(Request.MULTI, Request.MULTI);
    }

    /** Two connections were lost with the lists of two paths, so these are asked for one by one, the second one later. */
    private LockGroup twoPathsListedOneByOne() {
        LockGroup both = LockGroup.together(
                List.of(
                        spec(new TestDriver("lock-")),
                        specAt("/locks/limited", new LimitDriver(new AtomicInteger(1)), LockOptions.defaults())),
                LockOptions.defaults());
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS);
        AcquireLoop lost = launched(both, Mode.QUEUE);
        scheduler.run();
        reconnect();
        operations.refuse(Request.LIST, Code.OK, Code.CONNECTIONLOSS);
        scheduler.run();
        lost.giveUp();
        scheduler.run();
        reconnect();
        scheduler.advance(Duration.ofMillis(500));
        return both;
    }

    @Test
    @Tag("H185")
    void listThatComesLate_doesNotReplaceWhatIsKnownSince() {
        LockGroup both = twoPathsListedOneByOne();

        operations.delayAnswersOf(Request.ACL, Duration.ofMillis(100)); // the second list waits for it
        AcquireLoop first = launched(both, Mode.QUEUE);
        scheduler.run();
        AcquireLoop second = queueing();
        assertWaits(second);
        scheduler.advance(Duration.ofSeconds(1));
        first.outcome().join().orElseThrow().release();
        scheduler.run();
        assertGranted(second);
        assertWaits(queueing());
    }

    /** The second request needs no list: it must still be in the queue when the late list comes. */
    @Test
    @Tag("H200")
    void listThatComesLate_doesNotHideWhoWaitsWithoutAList() {
        LockGroup both = twoPathsListedOneByOne();
        cycle();
        cycle();
        assertKnown();

        operations.delayAnswersOf(Request.ACL, Duration.ofMillis(100)); // the second list waits for it
        AcquireLoop first = launched(both, Mode.QUEUE);
        scheduler.run();
        AcquireLoop second = queueing();
        assertWaits(second);
        assertThat(operations.requests()).doesNotContain(Request.LIST);
        scheduler.advance(Duration.ofSeconds(1));
        first.outcome().join().orElseThrow().release();
        scheduler.run();
        assertGranted(second);
    }

    /** The answer to each list comes after its request was given up. */
    @Test
    @Tag("H158")
    void requestsThatAreGivenUp_leaveNoNames() {
        operations.delayAnswersOf(Request.CREATE, Duration.ofMillis(5));
        operations.delayAnswersOf(Request.LIST, Duration.ofMillis(5));
        for (int i = 0; i < 100; i++) {
            AcquireLoop loop = queueing();
            scheduler.advance(Duration.ofMillis(1));
            loop.giveUp();
            scheduler.advance(Duration.ofMillis(20));
        }
        assertThat(ours()).isEmpty();
        LivingSessions.of(engine)
                .forEach(session -> assertThat(session.keptViews())
                        .extracting("views", MAP)
                        .allSatisfy((path, view) ->
                                assertThat(view).extracting("names", LIST).hasSizeLessThan(5)));
    }

    @Test
    void lockWithAnAclOfItsOwn_isListed() {
        LockGroup group = LockGroup.of(
                spec(new TestDriver("lock-"), LockOptions.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL)));
        assertThat(cycle(group)).contains(Request.LIST);
        assertThat(cycle(group)).contains(Request.LIST);
        assertThat(cycle(group)).contains(Request.LIST);
    }

    @Test
    @Tag("H158")
    void unusedView_goesAfterAMinute_andItsWatch() {
        assertThat(operations.watched()).containsExactly(NAME);
        scheduler.advance(Duration.ofMinutes(1));
        assertThat(operations.watched()).isEmpty();
        assertThat(scheduler.timers()).isEqualTo(timers);
        assertThat(cycle()).containsExactly(Request.CREATE, Request.LIST, Request.DELETE);
    }

    @Test
    @Tag("H158")
    void manyPaths_endTheViewThatWasNotUsedForTheLongestTime() {
        for (int i = 0; i < 999; i++) {
            cycle(mutexAt("/locks/other" + i));
        }
        assertKnown(); // uses it
        cycle(mutexAt("/locks/last"));
        assertThat(operations.watched()).containsExactly(NAME);
        for (int i = 0; i < 1000; i++) {
            cycle(mutexAt("/locks/another" + i));
        }
        assertThat(operations.watched()).isEmpty();
        assertThat(cycle()).containsExactly(Request.CREATE, Request.LIST, Request.DELETE);
    }

    @Test
    void refusedWatch_isNoReasonToFail() {
        scheduler.advance(Duration.ofMinutes(1));
        operations.requests();
        cycle();
        operations.refuse(Request.WATCH, Code.NOAUTH);
        assertListedAtOnce();
        assertListedAtOnce();
    }

    @Test
    void endOfTheSession_endsTheViews() {
        become(State.EXPIRED);
        scheduler.run();
        operations.requests();
        assertThat(cycle()).containsExactly(Request.CREATE, Request.LIST, Request.DELETE);
    }
}
