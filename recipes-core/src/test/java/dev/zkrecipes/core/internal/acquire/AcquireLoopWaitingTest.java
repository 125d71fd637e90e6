// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.clean.OwnNode;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an attempt sends from its place in the queue to the grant, and what it is granted on. */
class AcquireLoopWaitingTest extends AcquireFixture {
    private final AtomicInteger limit = new AtomicInteger(1);

    /** Nothing is known any more of when the leader heard of the session. */
    private void idle() {
        scheduler.run();
        scheduler.advance(operations.sessionTimeout());
    }

    @Test
    void freeLock_costsOneCreateAndOneList() {
        scheduler.run();
        operations.requests();
        assertGranted(queueing());
        assertThat(operations.requests()).containsExactly(Request.CREATE, Request.LIST);
    }

    @Test
    @Tag("H07")
    void grantAfterSlowAnswers_isConfirmedFirst() {
        idle();
        operations.requests();
        Duration delay = operations.sessionTimeout().dividedBy(2);
        operations.delayAnswerOf(Request.CREATE, delay);
        operations.delayAnswerOf(Request.LIST, delay.plusMillis(1));
        AcquireLoop attempt = queueing();
        scheduler.advance(delay.plusMillis(1));
        assertGranted(attempt);
        assertThat(operations.requests())
                .as("nobody watches the node, so it is looked for once more")
                .containsExactly(Request.CREATE, Request.LIST, Request.MULTI, Request.LIST);
    }

    /** No write proves enough shortly after a stop. */
    @Test
    @Tag("H08")
    void grantAfterAStop_isConfirmedOnceAndNotForEver() {
        operations.begin(State.DISCONNECTED);
        idle();
        AcquireLoop attempt = queueing();
        become(State.CONNECTED);
        scheduler.stop(operations.sessionTimeout().dividedBy(2));
        assertThat(attempt.outcome()).isCompleted();
        assertThat(operations.requests()).containsExactly(Request.CREATE, Request.LIST, Request.MULTI, Request.LIST);
        assertThat(attempt.outcome().join().orElseThrow().first().state()).isEqualTo(LeaseState.SUSPENDED);
    }

    @Test
    @Tag("H26")
    void deletedOwnNode_isNoticedAtOnceAndReplaced_eachTime() {
        operations.add(OTHER);
        AcquireLoop attempt = queueing();
        for (int i = 0; i < 2; i++) {
            String first = newest();
            operations.remove(first);
            scheduler.run();
            assertThat(attempt.isIn(AcquireLoop.Step.PAUSED)).isTrue();
            scheduler.advance(engine.settings().firstRetryDelay().multipliedBy(4));
            assertThat(ours()).hasSize(1).doesNotContain(first);
            assertThat(operations.watchedForDeletion()).containsExactly(newest(), OTHER);
        }
        operations.remove(OTHER);
        scheduler.run();
        assertGranted(attempt);
    }

    @Test
    @Tag("H100")
    void waiting_sendsNothingWhileNothingHappens() {
        operations.add(OTHER);
        queueing();
        operations.requests();
        scheduler.advance(Duration.ofMinutes(1).minusMillis(1));
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    void missingPath_isRecreatedWithANewNode() {
        operations.add(OTHER);
        AcquireLoop attempt = queueing();
        String first = newest();
        reconnect();
        operations.refuse(Request.LIST, Code.NONODE);
        operations.remove(OTHER);
        scheduler.advance(Duration.ofSeconds(2));
        assertGranted(attempt);
        assertThat(operations.deleted()).containsExactly(first);
    }

    @Test
    @Tag("H70")
    void simultaneousChanges_costOneWriteAndNoList() {
        idle();
        operations.add(OTHER);
        operations.add("lock-0000000001");
        operations.count(1);
        AcquireLoop attempt = queueing();
        scheduler.advance(Duration.ofSeconds(6));
        operations.requests();
        operations.remove(OTHER);
        operations.remove("lock-0000000001");
        scheduler.run();
        assertGranted(attempt);
        assertThat(operations.requests()).containsExactly(Request.MULTI);
    }

    /** One check proves the session for all who are granted together, and is about the path of one of them. */
    @Test
    @Tag("H192")
    void proofOnAPathThatMayNotBeRead_failsNobodyElse() {
        operations.add("/locks/a", "lock-0000000000");
        String other = "0".repeat(32) + "-lock-0000000000";
        operations.add("/locks/b", other);
        List<AcquireLoop> both = Stream.of("/locks/a", "/locks/b")
                .map(path -> launched(mutexAt(path), Mode.QUEUE))
                .toList();
        scheduler.run();
        scheduler.advance(timeout);
        operations.forbid("a");
        operations.remove("lock-0000000000");
        operations.remove(other);
        scheduler.run();
        assertThat(both)
                .allSatisfy(loop -> assertThat(loop.outcome()).isCompletedWithValueMatching(Optional::isPresent));
    }

    @Test
    void pauseAfterThingsWentWell_isAShortOne() {
        scheduler.run();
        operations.add(OTHER);
        for (int i = 0; i < 4; i++) {
            operations.refuse(Request.CREATE, Code.CONNECTIONLOSS);
        }
        queueing();
        scheduler.advance(Duration.ofSeconds(4));
        assertThat(operations.watchedForDeletion()).containsExactly(newest(), OTHER);
        reconnect();
        scheduler.delays().clear();
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS);
        operations.remove(OTHER);
        scheduler.run();
        assertThat(scheduler.delays())
                .singleElement()
                .matches(delay -> delay.compareTo(engine.settings().firstRetryDelay()) <= 0);
    }

    @Test
    @Tag("H21")
    void settlingWithALostList_beginsAgainAndAdoptsTheNode() {
        scheduler.run();
        operations.loseAnswerOf(Request.CREATE);
        AcquireLoop attempt = queueing();
        List<String> made = operations.nodes();
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS);
        scheduler.advance(Duration.ofSeconds(2));
        assertThat(made).containsExactly(LockPath.name(assertGranted(attempt).nodePath()));
        assertThat(operations.deleted()).isEmpty();
    }

    @Test
    @Tag("H35")
    void flappingConnection_doesNotSettleTwice() {
        scheduler.run();
        operations.loseAnswerOf(Request.CREATE);
        AcquireLoop attempt = queueing();
        operations.requests();
        become(State.DISCONNECTED);
        become(State.CONNECTED);
        become(State.DISCONNECTED);
        become(State.CONNECTED);
        assertThat(operations.requests()).isEmpty();
        scheduler.run();
        assertGranted(attempt);
        assertThat(operations.requests()).containsOnlyOnce(Request.MULTI);
    }

    @Test
    void changedRule_causesANewDecision() {
        operations.add(OTHER);
        AcquireLoop attempt = queueing(new LimitDriver(limit));
        assertThat(operations.watched()).containsExactlyInAnyOrder(OTHER, newest(), LockPath.name(PATH));
        limit.set(2);
        operations.change(LockPath.name(PATH));
        scheduler.run();
        assertGranted(attempt);
        assertThat(operations.nodes()).hasSize(2);
    }

    @Test
    @Tag("H05")
    void lastToLeaveAnOldCounter_restartsIt() {
        scheduler.run();
        operations.count(OwnNode.OLD);
        HeldNode grant = assertGranted(queueing());
        operations.requests();
        Grant.of(grant).release();
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
        assertThat(operations.requests())
                .as("the node goes at once")
                .containsExactly(Request.DELETE, Request.READ, Request.ACL, Request.MULTI);
    }

    @Test
    @Tag("H121")
    void pathInUseWithAnOldCounter_isTriedToResetOnceInAWhile_andWhenNobodyIsThere() {
        scheduler.run();
        operations.count(OwnNode.OLD);
        int cycles = 50;
        HeldNode grant = assertGranted(queueing());
        operations.requests();
        for (int i = 0; i < cycles; i++) {
            Grant.of(grant).release();
            AcquireLoop next = launchedBehind(Mode.TRY);
            operations.refuse(Request.MULTI, Code.NOTEMPTY); // it is there
            scheduler.run();
            grant = assertGranted(next);
        }
        assertThat(Collections.frequency(operations.requests(), Request.READ)).isEqualTo(1);
        Grant.of(grant).release();
        scheduler.run();
        assertThat(operations.requests()).containsExactly(Request.DELETE);
        operations.clearRefusals();
        scheduler.advance(timeout.dividedBy(6));
        assertThat(operations.requests()).containsExactly(Request.READ, Request.ACL, Request.MULTI);
        assertThat(OwnNode.numberOf(LockPath.name(assertGranted(queueing()).nodePath())))
                .isLessThan(OwnNode.OLD);
    }

    @Test
    @Tag("H05")
    void leavingAnOldCounterToOthers_doesNotRestartIt() {
        scheduler.run();
        operations.count(OwnNode.OLD);
        String behind = "lock-" + (OwnNode.OLD + 100);
        operations.add(behind);
        HeldNode grant = assertGranted(queueing());
        operations.requests();
        Grant.of(grant).release();
        scheduler.run();
        assertThat(operations.nodes()).containsExactly(behind);
        assertThat(operations.requests()).containsExactly(Request.DELETE);
    }
}
