// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.reads;

import static dev.zkrecipes.core.internal.reads.WatchScene.NODE;
import static dev.zkrecipes.core.internal.reads.WatchScene.PATH;
import static dev.zkrecipes.core.internal.reads.WatchScene.RETRY;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.reads.WatchScene.Listener;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

class WatchRegistryTest {
    private final WatchScene scene = new WatchScene();
    private final ManualScheduler scheduler = scene.scheduler;
    private final ScriptedOperations operations = scene.operations;
    private final Session session = scene.session;
    private final WatchRegistry registry = scene.registry;

    @Test
    void manySubscribersOfANode_shareOneWatch_andAreAllTold() {
        Listener first = scene.reading();
        Listener second = scene.reading();
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
    void missingNode_isGoneAtOnce() {
        operations.remove(NODE);
        assertThat(scene.reading().told).containsExactly("gone");
        assertThat(registry.isEmpty()).isTrue();
        assertThat(operations.watched()).isEmpty();
    }

    @Test
    void changeOfANode_isReadAndWatchedAgain() {
        Listener listener = scene.reading();
        operations.change(NODE);
        scheduler.run();
        assertThat(listener.told).containsExactly("read 0", "read 1");
        assertThat(operations.watched()).containsExactly(NODE);
        operations.remove(NODE);
        scheduler.run();
        assertThat(listener.told).containsExactly("read 0", "read 1", "gone");
    }

    @Test
    void lastToLeave_dropsTheWatch() {
        Listener first = scene.reading();
        Listener second = scene.reading();
        registry.unsubscribe(PATH, first);
        assertThat(operations.dropped()).isEmpty();
        registry.unsubscribe(PATH, first);
        assertThat(operations.watched()).containsExactly(NODE);
        registry.unsubscribe(PATH, second);
        assertThat(operations.dropped()).containsExactly(NODE);
        assertThat(registry.isEmpty()).isTrue();
        registry.unsubscribe(PATH, second);
        registry.unsubscribeLater(PATH, second);
        assertThat(operations.dropped()).containsExactly(NODE);
    }

    @Test
    void departedSubscriber_isToldNothingMore() {
        Listener listener = scene.reading();
        Listener stays = scene.reading();
        registry.unsubscribe(PATH, listener);
        operations.remove(NODE);
        scheduler.run();
        assertThat(listener.told).containsExactly("read 0");
        assertThat(stays.told).contains("gone");
    }

    @Test
    void watchLeftForLater_isDroppedOnce_unlessSomebodyComes() {
        Listener first = scene.reading();
        registry.unsubscribeLater(PATH, first);
        registry.unsubscribe(PATH, first); // has left already
        assertThat(operations.dropped()).isEmpty();
        Listener second = scene.reading();
        assertThat(operations.requests()).as("the watch is still there").containsExactly(Request.WATCH);
        scheduler.advance(RETRY);
        assertThat(operations.dropped()).isEmpty();

        registry.unsubscribeLater(PATH, second);
        Listener third = scene.reading();
        registry.unsubscribeLater(PATH, third);
        scheduler.advance(RETRY.dividedBy(2));
        assertThat(operations.dropped()).isEmpty();
        scheduler.advance(RETRY.dividedBy(2));
        assertThat(operations.dropped()).containsExactly(NODE);
        assertThat(registry.isEmpty()).isTrue();
    }

    @Test
    void watchLeftForLater_isForgottenWhenItIsSpent() {
        registry.unsubscribeLater(PATH, scene.reading());
        operations.requests();
        operations.change(NODE);
        scheduler.run();
        assertThat(operations.requests()).isEmpty();
        assertThat(registry.isEmpty()).isTrue();
        Listener next = scene.reading();
        assertThat(operations.requests()).containsExactly(Request.WATCH);
        scheduler.advance(RETRY);
        assertThat(operations.watched()).as("of the one who came since").containsExactly(NODE);
        assertThat(next.told).containsExactly("read 1");
    }

    @Test
    void eventOfADroppedWatch_concernsNobody() {
        Listener early = scene.reading();
        operations.remove(NODE); // the event is on its way
        registry.unsubscribe(PATH, early);
        operations.add(NODE);
        Listener late = new Listener();
        registry.subscribe(PATH, late);
        scheduler.run();
        assertThat(early.told).containsExactly("read 0");
        assertThat(late.told).containsExactly("read 0");
        assertThat(operations.watched()).containsExactly(NODE);
        operations.remove(NODE);
        scheduler.run();
        assertThat(late.told).containsExactly("read 0", "gone");
    }

    @Test
    void lostRead_isRepeatedWithTheNextConnection() {
        operations.refuse(Request.WATCH, Code.CONNECTIONLOSS);
        Listener listener = scene.reading();
        session.become(State.DISCONNECTED);
        scheduler.advance(RETRY);
        assertThat(operations.requests()).as("nothing without a connection").containsExactly(Request.WATCH);
        session.become(State.CONNECTED);
        scheduler.run();
        assertThat(operations.requests()).containsExactly(Request.WATCH);
        assertThat(listener.told).containsExactly("read 0");
        session.become(State.DISCONNECTED);
        session.become(State.CONNECTED);
        scheduler.advance(RETRY.multipliedBy(2));
        assertThat(operations.requests()).as("ZooKeeper's client sets it again").isEmpty();
    }

    @Test
    void postponedRead_isRepeatedAfterAWhile() {
        operations.refuse(Request.WATCH, Code.THROTTLEDOP);
        Listener listener = scene.reading();
        assertThat(operations.requests()).containsExactly(Request.WATCH);
        scheduler.advance(RETRY);
        assertThat(operations.requests()).containsExactly(Request.WATCH);
        assertThat(listener.told).containsExactly("read 0");
    }

    @Test
    void lostRead_isNotRepeatedWithoutSubscribers() {
        operations.refuse(Request.WATCH, Code.THROTTLEDOP);
        registry.unsubscribe(PATH, scene.reading());
        operations.requests();
        scheduler.advance(RETRY);
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    void refusedRead_endsTheSubscription() {
        operations.refuse(Request.WATCH, Code.NOAUTH);
        assertThat(scene.reading().told).containsExactly("refused NOAUTH");
        assertThat(registry.isEmpty()).isTrue();
    }

    @Test
    void newcomerDuringAReread_isNotToldOldData() {
        Listener first = scene.reading();
        operations.change(NODE);
        operations.refuse(Request.WATCH, Code.CONNECTIONLOSS);
        scheduler.run();
        Listener second = scene.reading();
        assertThat(second.told).isEmpty();
        session.become(State.DISCONNECTED);
        session.become(State.CONNECTED);
        scheduler.run();
        assertThat(first.told).containsExactly("read 0", "read 1");
        assertThat(second.told).containsExactly("read 1");
    }

    @Test
    void endedSession_needsNoWatchDropped() {
        Listener listener = scene.reading();
        session.become(State.EXPIRED);
        registry.unsubscribe(PATH, listener);
        assertThat(registry.isEmpty()).isTrue();
        assertThat(operations.dropped()).isEmpty();
    }
}
