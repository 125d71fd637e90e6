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
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

/** The watches that hear nothing of a node but its deletion, alone and beside those that read it. */
class DeletionSubscriptionTest {
    private final WatchScene scene = new WatchScene();
    private final ManualScheduler scheduler = scene.scheduler;
    private final ScriptedOperations operations = scene.operations;
    private final Session session = scene.session;
    private final WatchRegistry registry = scene.registry;

    @Test
    void manySubscribersOfANode_shareOneWatch_andAreAllTold() {
        Listener first = scene.waiting();
        Listener second = new Listener();
        registry.subscribeToDeletion(PATH, second);
        assertThat(registry.tellsDeletionOf(PATH)).isTrue();
        assertThat(operations.requests()).containsExactly(Request.WATCH_DELETION);
        operations.remove(NODE);
        scheduler.run();
        assertThat(first.told).containsExactly("gone");
        assertThat(second.told).containsExactly("gone");
        assertThat(operations.requests()).as("nobody is asked").isEmpty();
        assertThat(registry.isEmpty()).isTrue();
    }

    @Test
    void node_isNotSaidToBeWatchedBeforeTheServerSaysSo() {
        Listener first = new Listener();
        Listener second = new Listener();
        registry.subscribeToDeletion(PATH, first);
        registry.subscribeToDeletion(PATH, second);
        assertThat(registry.tellsDeletionOf(PATH)).isFalse();
        scheduler.run();
        assertThat(registry.tellsDeletionOf(PATH)).isTrue();
        assertThat(first.told).isEmpty();
        assertThat(second.told).isEmpty();
    }

    @Test
    void missingNode_isGone_andNothingIsSet() {
        operations.remove(NODE);
        assertThat(scene.waiting().told).containsExactly("gone");
        assertThat(registry.isEmpty()).isTrue();
        assertThat(operations.watched()).isEmpty();
    }

    @Test
    void changeOfTheData_concernsNobody() {
        Listener listener = scene.waiting();
        operations.requests();
        operations.change(NODE);
        scheduler.run();
        assertThat(listener.told).isEmpty();
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    void watchSpentByAnotherEvent_isSetAgain() {
        Listener listener = scene.waiting();
        operations.spendDeletionWatch(NODE);
        scheduler.run();
        assertThat(listener.told).isEmpty();
        assertThat(registry.tellsDeletionOf(PATH)).isTrue();
        assertThat(operations.requests()).containsExactly(Request.WATCH_DELETION, Request.WATCH_DELETION);
        operations.remove(NODE);
        scheduler.run();
        assertThat(listener.told).containsExactly("gone");
    }

    @Test
    void watchThatIsSetAgain_tellsNothingUntilItIsSet() {
        scene.waiting();
        operations.spendDeletionWatch(NODE);
        operations.refuse(Request.WATCH_DELETION, Code.THROTTLEDOP);
        scheduler.run();
        Listener late = scene.waiting();
        assertThat(registry.tellsDeletionOf(PATH)).isFalse();
        scheduler.advance(RETRY);
        assertThat(registry.tellsDeletionOf(PATH)).isTrue();
        operations.remove(NODE);
        scheduler.run();
        assertThat(late.told).containsExactly("gone");
    }

    @Test
    void lastToLeave_dropsTheWatch() {
        Listener first = scene.waiting();
        Listener second = scene.waiting();
        registry.unsubscribeFromDeletion(PATH, first);
        registry.unsubscribeFromDeletion(PATH, first);
        assertThat(operations.watchedForDeletion()).containsExactly(NODE);
        registry.unsubscribeFromDeletion(PATH, second);
        registry.unsubscribeFromDeletion(PATH, second);
        assertThat(operations.dropped()).containsExactly(NODE);
        assertThat(operations.watched()).isEmpty();
        assertThat(registry.isEmpty()).isTrue();
    }

    @Test
    void departedSubscriber_isToldNothingMore() {
        Listener leaves = scene.waiting();
        Listener stays = scene.waiting();
        registry.unsubscribeFromDeletion(PATH, leaves);
        operations.remove(NODE);
        scheduler.run();
        assertThat(leaves.told).isEmpty();
        assertThat(stays.told).containsExactly("gone");
    }

    @Test
    void leavingOrReturningDuringANotification_disturbsNobody() {
        Listener first = new Listener() {
            @Override
            public void onRead(String path, Content content) {
                super.onRead(path, content);
                registry.unsubscribe(path, this);
                registry.subscribe(path, new Listener());
            }
        };
        registry.subscribe(PATH, first);
        Listener second = scene.reading();
        assertThat(first.told).containsExactly("read 0");
        assertThat(second.told).containsExactly("read 0");
        operations.remove(NODE);
        scheduler.run();
        assertThat(first.told).containsExactly("read 0");
        assertThat(second.told).containsExactly("read 0", "gone");
    }

    @Test
    void subscribingAgainWhenTheNodeIsGone_setsANewWatch() {
        Listener listener = new Listener() {
            @Override
            public void onGone(String path) {
                super.onGone(path);
                operations.add(NODE);
                registry.subscribeToDeletion(path, new Listener());
            }
        };
        registry.subscribeToDeletion(PATH, listener);
        scheduler.run();
        operations.remove(NODE);
        scheduler.run();
        assertThat(listener.told).containsExactly("gone");
        assertThat(operations.watchedForDeletion()).containsExactly(NODE);
        assertThat(registry.isEmpty()).isFalse();
    }

    @Test
    void eventOfADroppedWatch_concernsNobody() {
        Listener early = scene.waiting();
        operations.remove(NODE); // the event is on its way
        registry.unsubscribeFromDeletion(PATH, early);
        operations.add(NODE);
        Listener late = new Listener();
        registry.subscribeToDeletion(PATH, late);
        scheduler.run();
        assertThat(early.told).isEmpty();
        assertThat(late.told).isEmpty();
        assertThat(registry.tellsDeletionOf(PATH)).isTrue();
        assertThat(operations.watchedForDeletion()).containsExactly(NODE);
        operations.remove(NODE);
        scheduler.run();
        assertThat(late.told).containsExactly("gone");
    }

    @Test
    void lostRequest_isRepeatedWithTheNextConnection() {
        operations.refuse(Request.WATCH_DELETION, Code.CONNECTIONLOSS);
        Listener listener = scene.waiting();
        session.become(State.DISCONNECTED);
        scheduler.advance(RETRY);
        assertThat(operations.requests()).as("nothing without a connection").containsExactly(Request.WATCH_DELETION);
        assertThat(registry.tellsDeletionOf(PATH)).isFalse();
        session.become(State.CONNECTED);
        scheduler.run();
        assertThat(operations.requests()).containsExactly(Request.WATCH_DELETION);
        assertThat(listener.told).isEmpty();
        assertThat(registry.tellsDeletionOf(PATH)).isTrue();
    }

    @Test
    void setWatch_survivesAReconnect_withoutARequest() {
        Listener listener = scene.waiting();
        operations.requests();
        session.become(State.DISCONNECTED);
        session.become(State.CONNECTED);
        scheduler.advance(RETRY.multipliedBy(2));
        assertThat(operations.requests()).as("ZooKeeper's client sets it again").isEmpty();
        operations.remove(NODE);
        scheduler.run();
        assertThat(listener.told).containsExactly("gone");
    }

    @Test
    void postponedRequest_isRepeatedAfterAWhile() {
        operations.refuse(Request.WATCH_DELETION, Code.THROTTLEDOP);
        Listener listener = scene.waiting();
        operations.requests();
        scheduler.advance(RETRY);
        assertThat(operations.requests()).containsExactly(Request.WATCH_DELETION);
        assertThat(listener.told).isEmpty();
        assertThat(registry.tellsDeletionOf(PATH)).isTrue();
    }

    @Test
    void lostRequest_isNotRepeatedWithoutSubscribers() {
        operations.refuse(Request.WATCH_DELETION, Code.THROTTLEDOP);
        registry.unsubscribeFromDeletion(PATH, scene.waiting());
        operations.requests();
        scheduler.advance(RETRY);
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    void refusedRequest_endsTheSubscription() {
        operations.refuse(Request.WATCH_DELETION, Code.NOAUTH);
        assertThat(scene.waiting().told).containsExactly("refused NOAUTH");
        assertThat(registry.isEmpty()).isTrue();
    }

    @Test
    void endedSession_needsNoWatchDropped() {
        Listener listener = scene.waiting();
        session.become(State.EXPIRED);
        registry.unsubscribeFromDeletion(PATH, listener);
        assertThat(registry.isEmpty()).isTrue();
        assertThat(operations.dropped()).isEmpty();
    }

    @Test
    void bothKindsOnANode_eachHaveAWatch_andHearWhatIsTheirs() {
        Listener waits = scene.waiting();
        Listener reads = scene.reading();
        assertThat(operations.requests()).containsExactly(Request.WATCH_DELETION, Request.WATCH);
        operations.change(NODE);
        scheduler.run();
        assertThat(operations.requests()).containsExactly(Request.WATCH);
        operations.spendDeletionWatch(NODE);
        scheduler.run();
        assertThat(operations.requests()).containsExactly(Request.WATCH_DELETION);
        operations.remove(NODE);
        scheduler.run();
        assertThat(waits.told).containsExactly("gone");
        assertThat(reads.told).containsExactly("read 0", "read 1", "gone");
        assertThat(registry.isEmpty()).isTrue();
    }

    @Test
    void leavingOneKindOfWatch_keepsTheOther() {
        Listener both = new Listener();
        registry.subscribe(PATH, both);
        registry.subscribeToDeletion(PATH, both);
        scheduler.run();
        registry.unsubscribe(PATH, both);
        assertThat(registry.isEmpty()).isFalse();
        assertThat(operations.watchedForDeletion()).containsExactly(NODE);
        assertThat(operations.watched()).containsExactly(NODE);
        registry.subscribe(PATH, both);
        scheduler.run();
        registry.unsubscribeFromDeletion(PATH, both);
        assertThat(registry.isEmpty()).isFalse();
        assertThat(operations.watchedForDeletion()).isEmpty();
        assertThat(operations.watched()).as("that of its data").containsExactly(NODE);
    }

    @Test
    void lostRequestsOfBothKinds_areRepeatedWithTheNextConnection() {
        operations.refuse(Request.WATCH, Code.CONNECTIONLOSS);
        operations.refuse(Request.WATCH_DELETION, Code.CONNECTIONLOSS);
        Listener reads = scene.reading();
        Listener waits = scene.waiting();
        session.become(State.DISCONNECTED);
        operations.requests();
        session.become(State.CONNECTED);
        scheduler.run();
        assertThat(operations.requests()).containsExactlyInAnyOrder(Request.WATCH, Request.WATCH_DELETION);
        assertThat(reads.told).containsExactly("read 0");
        assertThat(waits.told).isEmpty();
        assertThat(registry.tellsDeletionOf(PATH)).isTrue();
    }
}
