// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

class WatchRegistryTest {
    private static final String NODE = "lock-0000000001";
    private static final String PATH = "/locks/" + NODE;
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final Session session = new Session(
            states -> operations,
            scheduler,
            RETRY,
            new PauseDetector(scheduler, () -> operations.sessionTimeout().toNanos()),
            true,
            (ended, state) -> {});
    private final WatchRegistry registry = session.watches();

    WatchRegistryTest() {
        operations.add(NODE);
        session.begin();
    }

    /** Notes what it is told. */
    private static final class Listener implements WatchRegistry.Subscriber {
        private final List<String> told = new ArrayList<>();

        @Override
        public void onRead(String path, Content content) {
            told.add("read " + content.stat().getVersion());
        }

        @Override
        public void onGone(String path) {
            told.add("gone");
        }

        @Override
        public void onRefused(String path, Answer<?> answer) {
            told.add("refused " + answer.code());
        }
    }

    private Listener subscribed() {
        Listener listener = new Listener();
        registry.subscribe(PATH, listener);
        scheduler.run();
        return listener;
    }

    @Test
    void manySubscribersOfANode_shareOneWatch_andAreAllTold() {
        Listener first = subscribed();
        Listener second = subscribed();
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
        assertThat(subscribed().told).containsExactly("gone");
        assertThat(registry.isEmpty()).isTrue();
        assertThat(operations.watched()).isEmpty();
    }

    @Test
    void changeOfANode_isReadAndWatchedAgain() {
        Listener listener = subscribed();
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
        Listener first = subscribed();
        Listener second = subscribed();
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
        Listener listener = subscribed();
        Listener stays = subscribed();
        registry.unsubscribe(PATH, listener);
        operations.remove(NODE);
        scheduler.run();
        assertThat(listener.told).containsExactly("read 0");
        assertThat(stays.told).contains("gone");
    }

    @Test
    void watchLeftForLater_isDroppedOnce_unlessSomebodyComes() {
        Listener first = subscribed();
        registry.unsubscribeLater(PATH, first);
        registry.unsubscribe(PATH, first); // has left already
        assertThat(operations.dropped()).isEmpty();
        Listener second = subscribed();
        assertThat(operations.requests()).as("the watch is still there").containsExactly(Request.WATCH);
        scheduler.advance(RETRY);
        assertThat(operations.dropped()).isEmpty();

        registry.unsubscribeLater(PATH, second);
        Listener third = subscribed();
        registry.unsubscribeLater(PATH, third);
        scheduler.advance(RETRY.dividedBy(2));
        assertThat(operations.dropped()).isEmpty();
        scheduler.advance(RETRY.dividedBy(2));
        assertThat(operations.dropped()).containsExactly(NODE);
        assertThat(registry.isEmpty()).isTrue();
    }

    @Test
    void watchLeftForLater_isForgottenWhenItIsSpent() {
        registry.unsubscribeLater(PATH, subscribed());
        operations.requests();
        operations.change(NODE);
        scheduler.run();
        assertThat(operations.requests()).isEmpty();
        assertThat(registry.isEmpty()).isTrue();
        Listener next = subscribed();
        assertThat(operations.requests()).containsExactly(Request.WATCH);
        scheduler.advance(RETRY);
        assertThat(operations.watched()).as("of the one who came since").containsExactly(NODE);
        assertThat(next.told).containsExactly("read 1");
    }

    @Test
    void eventOfADroppedWatch_concernsNobody() {
        Listener early = subscribed();
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
        Listener listener = subscribed();
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
        Listener listener = subscribed();
        assertThat(operations.requests()).containsExactly(Request.WATCH);
        scheduler.advance(RETRY);
        assertThat(operations.requests()).containsExactly(Request.WATCH);
        assertThat(listener.told).containsExactly("read 0");
    }

    @Test
    void lostRead_isNotRepeatedWithoutSubscribers() {
        operations.refuse(Request.WATCH, Code.THROTTLEDOP);
        registry.unsubscribe(PATH, subscribed());
        operations.requests();
        scheduler.advance(RETRY);
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    void refusedRead_endsTheSubscription() {
        operations.refuse(Request.WATCH, Code.NOAUTH);
        assertThat(subscribed().told).containsExactly("refused NOAUTH");
        assertThat(registry.isEmpty()).isTrue();
    }

    @Test
    void newcomerDuringAReread_isNotToldOldData() {
        Listener first = subscribed();
        operations.change(NODE);
        operations.refuse(Request.WATCH, Code.CONNECTIONLOSS);
        scheduler.run();
        Listener second = subscribed();
        assertThat(second.told).isEmpty();
        session.become(State.DISCONNECTED);
        session.become(State.CONNECTED);
        scheduler.run();
        assertThat(first.told).containsExactly("read 0", "read 1");
        assertThat(second.told).containsExactly("read 1");
    }

    @Test
    void endedSession_needsNoWatchDropped() {
        Listener listener = subscribed();
        session.become(State.EXPIRED);
        registry.unsubscribe(PATH, listener);
        assertThat(registry.isEmpty()).isTrue();
        assertThat(operations.dropped()).isEmpty();
    }
}
