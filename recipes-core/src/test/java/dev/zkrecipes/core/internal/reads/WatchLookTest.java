// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.reads;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.handle.Containers;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.zk.PacketLimit;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.stream.LongStream;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a server tells nobody, since the watcher might not read the node at that moment, is found by a look. */
@Tag("H120")
class WatchLookTest extends WatchScene {
    private static final Duration LEAST = Duration.ofMinutes(1);
    private static final Duration MOST = Duration.ofSeconds(75);

    @Test
    void nodeThatIsGoneUntold_isGoneForWatchesOfBothKinds() {
        Listener reads = reading();
        Listener waits = waiting();
        operations.removeUntold(NODE);
        scheduler.advance(LEAST.minusMillis(1));
        assertThat(waits.told).isEmpty();
        scheduler.advance(MOST.minus(LEAST));
        assertThat(reads.told).containsExactly("read 0", "gone");
        assertThat(waits.told).containsExactly("gone");
        assertThat(operations.dropped()).as("what the client would keep").containsExactly(NODE, NODE);
        assertThat(registry.isEmpty()).isTrue();
    }

    /** It had changed before, and was being read again. */
    @Test
    void nodeThatIsGoneUntold_isGoneOnce_thoughItIsBeingRead() {
        Listener reads = reading();
        operations.removeUntold(NODE);
        operations.delayAnswerOf(Request.LOOK, Duration.ofSeconds(5));
        while (!operations.requests().contains(Request.LOOK)) {
            scheduler.advance(Duration.ofSeconds(1));
        }
        operations.delayAnswerOf(Request.WATCH, Duration.ofSeconds(10));
        operations.change(NODE);
        scheduler.advance(Duration.ofSeconds(20));
        assertThat(operations.requests()).containsExactly(Request.WATCH);
        assertThat(reads.told).containsExactly("read 0", "gone");
    }

    @Test
    void changeThatWasUntold_isReadAndWatchedAgain_once() {
        Listener reads = reading();
        Listener waits = waiting();
        operations.requests();
        operations.changeUntold();
        scheduler.advance(MOST);
        assertThat(operations.requests()).containsExactly(Request.LOOK, Request.WATCH);
        assertThat(reads.told).containsExactly("read 0", "read 1");
        assertThat(waits.told).isEmpty();
        scheduler.advance(MOST);
        assertThat(operations.requests()).containsExactly(Request.LOOK);
    }

    @Test
    void nodeThatMayNotBeRead_isRefused() {
        Listener reads = reading();
        Listener waits = waiting();
        operations.hide(NODE);
        scheduler.advance(MOST);
        assertThat(reads.told).containsExactly("read 0", "refused NOAUTH");
        assertThat(waits.told).containsExactly("refused NOAUTH");
        assertThat(operations.dropped()).containsExactly(NODE, NODE);
    }

    /** Nothing is granted by what was seen before, without a list. */
    @Test
    void missedDeletion_putsInDoubtWhatWasSeenBefore() {
        waiting();
        int before = session.order();
        scheduler.advance(MOST);
        assertThat(session.order()).isEqualTo(before);
        operations.removeUntold(NODE);
        scheduler.advance(MOST);
        assertThat(session.order()).isNotEqualTo(before);
        session.become(State.DISCONNECTED);
        session.become(State.CONNECTED);
        assertThat(session.order()).isNotEqualTo(before);
    }

    @Test
    void manyNodes_areLookedAtAHundredAtATime_oneRequestAfterTheOther() {
        watchLocks(250);
        operations.delayAnswersOf(Request.LOOK, Duration.ofSeconds(5));
        scheduler.advance(MOST);
        operations.delayAnswersOf(Request.LOOK, Duration.ofDays(1));
        assertThat(operations.requests()).hasSizeBetween(1, 3).containsOnly(Request.LOOK);
        scheduler.advance(Duration.ofSeconds(11));
        assertThat(operations.lookedAt()).hasSize(50);
    }

    /** A packet holds 1,048,575 bytes; half of that is 34 times 15,000 bytes and what is around them. */
    @Test
    @Tag("H190")
    void nodesWithMuchData_areLookedAtInGroupsThatFitHalfAPacket() {
        operations.change(NODE, new byte[15_000]);
        watchLocks(100);
        scheduler.advance(MOST);
        assertThat(operations.requests()).containsExactly(Request.LOOK, Request.LOOK, Request.LOOK);
        assertThat(operations.lookedAt()).as("the rest of 2 times 34").hasSize(32);
    }

    /** Whatever lies on one node alone was read before, so it fits. */
    @Test
    @Tag("H190")
    void nodeWithMoreThanHalfAPacket_isLookedAtAlone() {
        operations.change(NODE, new byte[PacketLimit.DEFAULT / 2]);
        watchLocks(3);
        scheduler.advance(MOST);
        assertThat(operations.requests()).containsExactly(Request.LOOK, Request.LOOK, Request.LOOK);
        assertThat(operations.lookedAt()).hasSize(1);
    }

    /** Nobody knows how much data it has by now. */
    @Test
    @Tag("H190")
    void nodeThatIsBeingRead_isNotLookedAt() {
        watchLocks(3);
        scheduler.advance(LEAST.minusMillis(1));
        operations.delayAnswerOf(Request.WATCH, Duration.ofSeconds(16));
        operations.change("lock-1");
        scheduler.advance(MOST.minus(LEAST));
        assertThat(operations.lookedAt()).containsExactlyInAnyOrder("lock-0", "lock-2");
    }

    /** The request names them all. */
    @Test
    @Tag("H190")
    void nodesWithLongPaths_areLookedAtInGroupsThatFitHalfAPacket() {
        for (int i = 0; i < 100; i++) {
            operations.add("lock-" + i);
            registry.subscribeToDeletion("/" + "é".repeat(4_000) + "/lock-" + i, new Listener());
        }
        scheduler.run();
        operations.requests();
        scheduler.advance(MOST);
        assertThat(operations.requests()).containsExactly(Request.LOOK, Request.LOOK);
        assertThat(operations.lookedAt()).hasSize(36);
    }

    private void watchLocks(int count) {
        for (int i = 0; i < count; i++) {
            operations.add("lock-" + i);
            registry.subscribe("/locks/lock-" + i, new Listener());
        }
        scheduler.run();
        operations.requests();
    }

    @Test
    void lookWithoutAnAnswer_goesNoFurther() {
        watchLocks(250);
        operations.refuse(Request.LOOK, Code.CONNECTIONLOSS);
        scheduler.advance(MOST);
        assertThat(operations.requests()).containsExactly(Request.LOOK);
        scheduler.advance(MOST);
        assertThat(operations.requests()).containsExactly(Request.LOOK, Request.LOOK, Request.LOOK);
    }

    @Test
    void lastWatch_takesTheTimerAlong() {
        int before = scheduler.timers();
        Listener waits = waiting();
        Listener reads = reading();
        assertThat(scheduler.timers()).isEqualTo(before + 1);
        registry.unsubscribe(WatchScene.PATH, reads);
        assertThat(scheduler.timers()).isEqualTo(before + 1);
        registry.unsubscribeFromDeletion(WatchScene.PATH, waits);
        registry.unsubscribeFromDeletion(WatchScene.PATH, waits);
        assertThat(scheduler.timers()).isEqualTo(before);
    }

    @Test
    void endedSession_takesAllTimersAlong() {
        Listener reads = reading();
        assertThat(scheduler.timers()).as("this and the session's own").isEqualTo(2);
        session.become(State.EXPIRED);
        assertThat(scheduler.timers()).isZero();
        registry.unsubscribe(WatchScene.PATH, reads);
        registry.subscribe(WatchScene.PATH, reads);
        assertThat(scheduler.timers()).isZero();
    }

    @Test
    void sessionsThatBeganTogether_doNotLookTogether() {
        LongStream.of(7, 8, 9).forEach(this::lookIn);
        assertThat(scheduler.delays().stream().filter(delay -> delay.compareTo(LEAST) >= 0))
                .hasSize(3)
                .doesNotHaveDuplicates()
                .allMatch(delay -> delay.compareTo(MOST) <= 0);
    }

    private void lookIn(long id) {
        operations.inSession(id);
        Session session = new Session(
                states -> operations,
                scheduler,
                new Containers(false, scheduler),
                operations.sessionTimeout(),
                WatchScene.RETRY,
                true,
                (ended, state) -> {});
        session.begin();
        session.watches().subscribe(WatchScene.PATH, new Listener());
    }
}
