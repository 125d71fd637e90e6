// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.reads;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

/** The watches that hear nothing of a node but its deletion, alone and beside those that read it. */
class DeletionSubscriptionTest extends WatchScene {
    @Test
    void manySubscribersOfANode_shareOneWatch_andAreAllTold() {
        Listener first = waiting();
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
    void changeOfTheData_concernsNobody() {
        Listener listener = waiting();
        operations.requests();
        operations.change(NODE);
        scheduler.run();
        assertThat(listener.told).isEmpty();
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    void watchSpentByAnotherEvent_isSetAgain() {
        Listener listener = waiting();
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
        waiting();
        operations.spendDeletionWatch(NODE);
        operations.refuse(Request.WATCH_DELETION, Code.THROTTLEDOP);
        scheduler.run();
        Listener late = waiting();
        assertThat(registry.tellsDeletionOf(PATH)).isFalse();
        scheduler.advance(RETRY);
        assertThat(registry.tellsDeletionOf(PATH)).isTrue();
        operations.remove(NODE);
        scheduler.run();
        assertThat(late.told).containsExactly("gone");
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
        Listener second = reading();
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
    void bothKindsOnANode_eachHaveAWatch_andHearWhatIsTheirs() {
        Listener waits = waiting();
        Listener reads = reading();
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
        Listener reads = reading();
        Listener waits = waiting();
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
