// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.reads;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WatchRegistryTest extends WatchScene {
    @Test
    void manySubscribersOfANode_shareOneWatch_andAreAllTold() {
        Listener first = reading();
        Listener second = reading();
        assertThat(operations.requests()).containsExactly(Request.WATCH);
        assertThat(second.told).as("told at once what was seen").containsExactly("read 0");
        operations.remove(NODE);
        scheduler.run();
        assertThat(first.told).containsExactly("read 0", "gone");
        assertThat(second.told).containsExactly("read 0", "gone");
        assertThat(operations.requests()).as("nobody is asked").isEmpty();
        assertThat(registry.isEmpty()).isTrue();
    }

    @Test
    void changeOfANode_isReadAndWatchedAgain() {
        Listener listener = reading();
        operations.change(NODE);
        scheduler.run();
        assertThat(listener.told).containsExactly("read 0", "read 1");
        assertThat(operations.watched()).containsExactly(NODE);
        operations.remove(NODE);
        scheduler.run();
        assertThat(listener.told).containsExactly("read 0", "read 1", "gone");
    }

    /** The answer to the watch comes after that to the deletion, and says that there is no node. */
    @Test
    void watchOnItsWay_isNotDropped_whenTheNodeIsKnownToBeGone() {
        operations.delayAnswerOf(Request.WATCH_DELETION, RETRY);
        Listener listener = waiting();
        operations.removeUntold(NODE);
        registry.onKnownGone(PATH);
        assertThat(listener.told).containsExactly("gone");
        assertThat(operations.dropped()).isEmpty();
        scheduler.advance(RETRY);
        assertThat(listener.told).containsExactly("gone");
        assertThat(registry.isEmpty()).isTrue();
    }

    /** No answer will come that tells the client so. */
    @Test
    @Tag("H42")
    void watchWhoseRequestWasLost_isDropped_whenTheNodeIsKnownToBeGone() {
        operations.refuse(Request.WATCH_DELETION, Code.CONNECTIONLOSS);
        Listener listener = waiting();
        registry.onKnownGone(PATH);
        assertThat(listener.told).containsExactly("gone");
        assertThat(operations.dropped()).containsExactly(NODE);
    }

    @Test
    @Tag("H42")
    void watchOnItsWay_isDropped_ifItsAnswerIsLostAfterTheNodeIsKnownToBeGone() {
        operations.delayAnswerOf(Request.WATCH_DELETION, RETRY);
        operations.loseAnswerOf(Request.WATCH_DELETION);
        waiting();
        registry.onKnownGone(PATH);
        assertThat(operations.dropped()).isEmpty();
        scheduler.advance(RETRY);
        assertThat(operations.dropped()).containsExactly(NODE);
        assertThat(operations.watched()).isEmpty();
    }

    @Test
    void watchThatIsSet_isDropped_whenTheNodeIsKnownToBeGone() {
        Listener listener = waiting();
        operations.removeUntold(NODE);
        registry.onKnownGone(PATH);
        assertThat(listener.told).containsExactly("gone");
        assertThat(operations.dropped()).containsExactly(NODE);
    }

    @Test
    void watchLeftForLater_isDroppedOnce_unlessSomebodyComes() {
        Listener first = reading();
        registry.unsubscribeLater(PATH, first);
        registry.unsubscribe(PATH, first); // has left already
        assertThat(operations.dropped()).isEmpty();
        Listener second = reading();
        assertThat(operations.requests()).as("the watch is still there").containsExactly(Request.WATCH);
        scheduler.advance(RETRY);
        assertThat(operations.dropped()).isEmpty();

        registry.unsubscribeLater(PATH, second);
        Listener third = reading();
        registry.unsubscribeLater(PATH, third);
        scheduler.advance(RETRY.dividedBy(2));
        assertThat(operations.dropped()).isEmpty();
        scheduler.advance(RETRY.dividedBy(2));
        registry.unsubscribeLater(PATH, third); // has left already
        assertThat(operations.dropped()).containsExactly(NODE);
        assertThat(registry.isEmpty()).isTrue();
    }

    @Test
    void watchLeftForLater_isForgottenWhenItIsSpent() {
        registry.unsubscribeLater(PATH, reading());
        operations.requests();
        operations.change(NODE);
        scheduler.run();
        assertThat(operations.requests()).isEmpty();
        assertThat(registry.isEmpty()).isTrue();
        Listener next = reading();
        assertThat(operations.requests()).containsExactly(Request.WATCH);
        scheduler.advance(RETRY);
        assertThat(operations.watched()).as("of the one who came since").containsExactly(NODE);
        assertThat(next.told).containsExactly("read 1");
    }

    @Test
    void newcomerDuringAReread_isNotToldOldData() {
        Listener first = reading();
        operations.change(NODE);
        operations.refuse(Request.WATCH, Code.CONNECTIONLOSS);
        scheduler.run();
        Listener second = reading();
        assertThat(second.told).isEmpty();
        session.become(State.DISCONNECTED);
        session.become(State.CONNECTED);
        scheduler.run();
        assertThat(first.told).containsExactly("read 0", "read 1");
        assertThat(second.told).containsExactly("read 1");
    }

    // ---- Of either kind.

    @ParameterizedTest
    @EnumSource
    void missingNode_isGone_andNothingIsSet(Kind kind) {
        operations.remove(NODE);
        assertThat(subscribed(kind).told).containsExactly("gone");
        assertThat(registry.isEmpty()).isTrue();
        assertThat(operations.watched()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("H43")
    void lastToLeave_dropsTheWatch(Kind kind) {
        Listener first = subscribed(kind);
        Listener second = subscribed(kind);
        unsubscribe(kind, first);
        unsubscribe(kind, first);
        assertThat(operations.dropped()).isEmpty();
        assertThat(operations.watched()).containsExactly(NODE);
        unsubscribe(kind, second);
        unsubscribe(kind, second);
        assertThat(operations.dropped()).containsExactly(NODE);
        assertThat(operations.watched()).isEmpty();
        assertThat(registry.isEmpty()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("H43")
    void departedSubscriber_isToldNothingMore(Kind kind) {
        Listener leaves = subscribed(kind);
        Listener stays = subscribed(kind);
        unsubscribe(kind, leaves);
        operations.remove(NODE);
        scheduler.run();
        assertThat(leaves.told).isEqualTo(kind.toldAtOnce);
        assertThat(stays.told).last().isEqualTo("gone");
    }

    @ParameterizedTest
    @EnumSource
    void eventOfADroppedWatch_concernsNobody(Kind kind) {
        Listener early = subscribed(kind);
        operations.remove(NODE); // the event is on its way
        unsubscribe(kind, early);
        operations.add(NODE);
        Listener late = subscribed(kind);
        assertThat(early.told).isEqualTo(kind.toldAtOnce);
        assertThat(late.told).isEqualTo(kind.toldAtOnce);
        assertThat(operations.watched()).containsExactly(NODE);
        operations.remove(NODE);
        scheduler.run();
        assertThat(late.told).last().isEqualTo("gone");
    }

    @ParameterizedTest
    @EnumSource
    void lostRequest_isRepeatedWithTheNextConnection(Kind kind) {
        operations.refuse(kind.request, Code.CONNECTIONLOSS);
        Listener listener = subscribed(kind);
        session.become(State.DISCONNECTED);
        scheduler.advance(RETRY);
        assertThat(operations.requests()).as("nothing without a connection").containsExactly(kind.request);
        assertThat(registry.tellsDeletionOf(PATH)).isFalse();
        session.become(State.CONNECTED);
        scheduler.run();
        assertThat(operations.requests()).containsExactly(kind.request);
        assertThat(listener.told).isEqualTo(kind.toldAtOnce);
    }

    @ParameterizedTest
    @EnumSource
    void setWatch_survivesAReconnect_withoutARequest(Kind kind) {
        Listener listener = subscribed(kind);
        operations.requests();
        session.become(State.DISCONNECTED);
        session.become(State.CONNECTED);
        scheduler.advance(RETRY.multipliedBy(2));
        assertThat(operations.requests()).as("ZooKeeper's client sets it again").isEmpty();
        operations.remove(NODE);
        scheduler.run();
        assertThat(listener.told).last().isEqualTo("gone");
    }

    @ParameterizedTest
    @EnumSource
    void postponedRequest_isRepeatedAfterAWhile(Kind kind) {
        operations.refuse(kind.request, Code.THROTTLEDOP);
        Listener listener = subscribed(kind);
        assertThat(operations.requests()).containsExactly(kind.request);
        scheduler.advance(RETRY);
        assertThat(operations.requests()).containsExactly(kind.request);
        assertThat(listener.told).isEqualTo(kind.toldAtOnce);
    }

    @ParameterizedTest
    @EnumSource
    void lostRequest_isNotRepeatedWithoutSubscribers(Kind kind) {
        operations.refuse(kind.request, Code.THROTTLEDOP);
        unsubscribe(kind, subscribed(kind));
        operations.requests();
        scheduler.advance(RETRY);
        assertThat(operations.requests()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void refusedRequest_endsTheSubscription(Kind kind) {
        operations.refuse(kind.request, Code.NOAUTH);
        assertThat(subscribed(kind).told).containsExactly("refused NOAUTH");
        assertThat(registry.isEmpty()).isTrue();
    }

    /** The answer may be about the size of the node, and no answer to the lost request. */
    @ParameterizedTest
    @EnumSource
    @Tag("H42")
    void refusalAfterALoss_dropsTheWatch_unlessItWasSetMeanwhile(Kind kind) {
        operations.refuse(kind.request, Code.THROTTLEDOP, Code.MARSHALLINGERROR, Code.THROTTLEDOP, Code.OK);
        Listener first = subscribed(kind);
        scheduler.advance(RETRY);
        assertThat(first.told).containsExactly("refused MARSHALLINGERROR");
        assertThat(operations.dropped()).containsExactly(NODE);

        Listener second = subscribed(kind);
        scheduler.advance(RETRY);
        operations.remove(NODE);
        scheduler.run();
        assertThat(second.told).last().isEqualTo("gone");
        assertThat(operations.dropped()).as("an event has ended it").containsExactly(NODE);
    }

    @ParameterizedTest
    @EnumSource
    void endedSession_needsNoWatchDropped(Kind kind) {
        Listener listener = subscribed(kind);
        session.become(State.EXPIRED);
        unsubscribe(kind, listener);
        assertThat(registry.isEmpty()).isTrue();
        assertThat(operations.dropped()).isEmpty();
    }
}
