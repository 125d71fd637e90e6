// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.clean.OwnNode;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A queue that is known from before needs no list, until somebody else may have entered it. */
class KeptViewTest {
    private static final String NAME = LockPath.name(AcquireFixture.PATH);

    private final AcquireFixture fixture = new AcquireFixture();

    private int timers; // before the first use

    /** The first use lists, and the second one sets the watch and lists behind it. */
    @BeforeEach
    void useTwice() {
        fixture.scheduler.run();
        timers = fixture.scheduler.timers();
        assertThat(cycle()).containsExactly(Request.CREATE, Request.LIST, Request.DELETE);
        assertThat(cycle()).containsExactly(Request.WATCH, Request.CREATE, Request.LIST, Request.DELETE);
    }

    private List<Request> cycle() {
        return cycle(LockGroup.of(fixture.spec(new TestDriver("lock-"))));
    }

    private List<Request> cycle(LockGroup group) {
        AcquireLoop loop = fixture.launched(group, Mode.QUEUE);
        fixture.scheduler.run();
        loop.outcome().join().orElseThrow().release();
        fixture.scheduler.run();
        return fixture.operations.requests();
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
        AcquireLoop loop = fixture.launched(Mode.TRY);
        fixture.scheduler.run();
        fixture.assertGranted(loop);
        assertThat(fixture.operations.requests()).containsExactly(Request.LIST, Request.CREATE);
    }

    @Test
    void ownNodeInFront_isWaitedForWithoutAList() {
        HeldNode held = fixture.assertGranted(fixture.queueing());
        fixture.operations.requests();
        AcquireLoop waiting = fixture.queueing();
        AcquireFixture.assertWaits(waiting);
        assertThat(fixture.operations.requests())
                .containsExactly(Request.CREATE, Request.WATCH_DELETION, Request.WATCH_DELETION);
        Grant.of(held).release();
        fixture.scheduler.run();
        fixture.assertGranted(waiting);
        assertThat(fixture.operations.requests()).containsExactly(Request.DELETE);
    }

    /** Somebody else has created a node: it is listed, which takes a round trip more, but not each time. */
    @Test
    @Tag("H154")
    void otherNumber_isListed_andTheNextAtOnce() {
        fixture.operations.add("lock-0000000003");
        AcquireLoop waiting = fixture.queueing();
        AcquireFixture.assertWaits(waiting);
        assertThat(fixture.operations.requests()).startsWith(Request.CREATE, Request.LIST);
        fixture.operations.remove("lock-0000000003");
        fixture.scheduler.run();
        Grant.of(fixture.assertGranted(waiting)).release();
        fixture.scheduler.run();
        fixture.operations.count(10);
        assertListedAtOnce();
        fixture.operations.count(20);
        assertListedAtOnce();
        assertListedAtOnce(); // the first that follows a node of ours
        assertKnown();
    }

    @Test
    @Tag("H155")
    void pathMadeAnew_isListed_thoughTheNumbersMeet() {
        fixture.operations.tellRemoved(NAME);
        fixture.operations.add(AcquireFixture.PATH, "lock-0000000000");
        AcquireLoop waiting = fixture.queueing(); // its number is the one that would follow
        AcquireFixture.assertWaits(waiting);
    }

    /** The event comes between the create and its answer. */
    @Test
    @Tag("H155")
    void pathMadeAnew_whileTheCreateIsUnderWay_isListed() {
        AcquireLoop waiting = fixture.launched(Mode.QUEUE);
        fixture.operations.delayAnswerOf(Request.CREATE, Duration.ofMillis(10));
        fixture.scheduler.run();
        fixture.operations.add(AcquireFixture.PATH, "lock-0000000000");
        fixture.operations.tellRemoved(NAME);
        fixture.scheduler.advance(Duration.ofMillis(20));
        AcquireFixture.assertWaits(waiting);
    }

    @Test
    @Tag("H156")
    void anotherConnection_knowsNothing() {
        fixture.reconnect();
        fixture.scheduler.run();
        assertListedAtOnce();
        assertKnown();
    }

    @Test
    @Tag("H156")
    void watchThatWasSpent_makesTheListAnew() {
        fixture.operations.change(NAME);
        fixture.scheduler.run();
        fixture.operations.requests();
        assertListedAtOnce();
        assertKnown();
    }

    /** While the path is being read again, nobody would tell of its end. */
    @Test
    @Tag("H156")
    void watchThatIsNotSetYet_tellsNothing() {
        fixture.operations.delayAnswerOf(Request.WATCH, Duration.ofMillis(10));
        fixture.operations.change(NAME);
        fixture.scheduler.run();
        fixture.operations.requests();
        assertListedAtOnce();
        assertListedAtOnce();
        fixture.scheduler.advance(Duration.ofMillis(20));
        assertListedAtOnce();
        assertKnown();
    }

    @Test
    @Tag("H154")
    void createWithoutAnAnswer_leavesNothingKnown() {
        fixture.operations.loseAnswerOf(Request.CREATE);
        AcquireLoop loop = fixture.launched(Mode.QUEUE);
        fixture.scheduler.advance(Duration.ofSeconds(20));
        Grant.of(fixture.assertGranted(loop)).release();
        fixture.scheduler.run();
        fixture.operations.requests();
        assertListedAtOnce();
    }

    @Test
    @Tag("H157")
    void wornNumber_isRefused() {
        fixture.operations.count(OwnNode.WORN_OUT - 4);
        fixture.assertGranted(fixture.queueing());
        AcquireFixture.assertWaits(fixture.queueing()); // lists
        fixture.operations.requests();
        AcquireFixture.assertWaits(fixture.queueing());
        AcquireLoop worn = fixture.queueing();
        assertThat(fixture.operations.requests()).doesNotContain(Request.LIST);
        assertThat(worn.outcome()).isCompletedExceptionally();
    }

    /** A list that lacks our node is older than the node, and may lack others, too. */
    @Test
    @Tag("H154")
    void listWithoutOurNode_isNotKept() {
        fixture.reconnect();
        fixture.scheduler.run();
        fixture.operations.show(names -> List.of());
        AcquireLoop loop = fixture.queueing();
        fixture.scheduler.advance(Duration.ofSeconds(5));
        assertThat(loop.outcome()).isNotDone();
    }

    @Test
    void severalPaths_areKnownTogether() {
        LockGroup group = fixture.together(LockOptions.defaults(), "/locks/a", "/locks/b");
        assertThat(cycle(group)).containsExactly(Request.MULTI, Request.LIST, Request.MULTI);
        assertThat(cycle(group))
                .containsExactly(Request.WATCH, Request.WATCH, Request.MULTI, Request.LIST, Request.MULTI);
        assertThat(cycle(group)).containsExactly(Request.MULTI, Request.MULTI);
    }

    @Test
    void lockWithAnAclOfItsOwn_isListed() {
        LockGroup group = LockGroup.of(
                fixture.spec(new TestDriver("lock-"), LockOptions.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL)));
        assertThat(cycle(group)).contains(Request.LIST);
        assertThat(cycle(group)).contains(Request.LIST);
        assertThat(cycle(group)).contains(Request.LIST);
    }

    @Test
    @Tag("H158")
    void unusedView_goesAfterAMinute_andItsWatch() {
        assertThat(fixture.operations.watched()).containsExactly(NAME);
        fixture.scheduler.advance(Duration.ofMinutes(1));
        assertThat(fixture.operations.watched()).isEmpty();
        assertThat(fixture.scheduler.timers()).isEqualTo(timers);
        assertThat(cycle()).containsExactly(Request.CREATE, Request.LIST, Request.DELETE);
    }

    @Test
    void refusedWatch_isNoReasonToFail() {
        fixture.scheduler.advance(Duration.ofMinutes(1));
        fixture.operations.requests();
        cycle();
        fixture.operations.refuse(Request.WATCH, Code.NOAUTH);
        assertListedAtOnce();
        assertListedAtOnce();
    }

    @Test
    void endOfTheSession_endsTheViews() {
        fixture.become(State.EXPIRED);
        fixture.scheduler.run();
        fixture.operations.requests();
        assertThat(cycle()).containsExactly(Request.CREATE, Request.LIST, Request.DELETE);
    }
}
