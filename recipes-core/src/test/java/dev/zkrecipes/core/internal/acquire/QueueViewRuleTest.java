// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.LockNodeDriver;
import dev.zkrecipes.core.internal.ModeDriver;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Drivers whose rule is data of the path, and several locks that are waited for as one. */
class QueueViewRuleTest extends AcquireFixture {
    private static final String X = "/locks/x";
    private static final String Y = "/locks/y";
    private static final String IN_X = "lock-0000000000";
    private static final String IN_Y = "lock-0000000001";

    private final AtomicInteger limit = new AtomicInteger(2);
    private final LockDriver limited = new LimitDriver(limit);

    private void changeLimit(int next, String path) {
        limit.set(next);
        operations.change(LockPath.name(path));
    }

    private AcquireLoop queueing(LockSpec... specs) {
        AcquireLoop loop = launched(LockGroup.together(List.of(specs), LockOptions.defaults()), Mode.QUEUE);
        scheduler.run();
        operations.requests();
        return loop;
    }

    private LockSpec spec(String path, LockDriver driver) {
        return specAt(path, driver, LockOptions.defaults());
    }

    private void occupyTwice() {
        operations.add(IN_X);
        operations.add(IN_Y);
        operations.count(1);
    }

    private void occupyBoth() {
        operations.add(X, IN_X);
        operations.add(Y, IN_Y);
        operations.count(1);
    }

    @Test
    void changedRule_putsAllWaitersInDoubt_andOneListDecides() {
        occupyTwice();
        AcquireLoop first = queueing(limited);
        AcquireLoop second = queueing(limited);
        AcquireLoop third = queueing(limited);
        operations.requests();
        changeLimit(4, PATH);
        scheduler.run();
        assertThat(operations.requests())
                .startsWith(Request.WATCH, Request.LIST)
                .hasSize(2);
        assertGranted(first);
        assertGranted(second);
        assertWaits(third);
    }

    @Test
    void unchangedRuleReadAgain_changesNothing() {
        occupyTwice();
        AcquireLoop loop = queueing(limited);
        operations.requests();
        queueing(limited);
        assertThat(operations.requests()).doesNotContain(Request.WATCH);
        assertWaits(loop);
    }

    @Test
    void eventDuringTheReadOfTheRule_isNotDecidedByTheOldRule() {
        occupyTwice();
        AcquireLoop loop = queueing(limited);
        changeLimit(1, PATH);
        operations.remove(IN_X);
        scheduler.run();
        assertWaits(loop);
        operations.remove(IN_Y);
        scheduler.run();
        assertGranted(loop);
    }

    @Test
    void newRuleInTheListOfAnotherRequest_isNotMissed() {
        occupyTwice();
        AcquireLoop first = queueing(limited);
        operations.delayAnswerOf(Request.WATCH, Duration.ofMillis(50));
        changeLimit(3, PATH);
        AcquireLoop second = queueing(limited); // whose list comes before the answer to the read
        scheduler.advance(Duration.ofSeconds(1));
        assertGranted(first);
        assertWaits(second);
    }

    @Test
    void listWithoutTheRule_leavesNobodyUnderAnOldOne() {
        occupyTwice();
        AcquireLoop loop = queueing(limited);
        AcquireLoop other = queueing(new MutexDriver()); // asks for no data
        changeLimit(3, PATH);
        scheduler.run();
        assertGranted(loop);
        assertWaits(other);
    }

    @Test
    void ruleThatChangesDuringTheProof_decides() {
        occupyTwice();
        AcquireLoop loop = queueing(limited);
        scheduler.advance(operations.sessionTimeout()); // so that a grant needs a proof
        operations.delayAnswerOf(Request.MULTI, Duration.ofMillis(50));
        operations.remove(IN_X);
        scheduler.run();
        assertThat(loop.isIn(AcquireLoop.Step.PROVING)).isTrue();
        changeLimit(1, PATH);
        scheduler.advance(Duration.ofSeconds(1));
        assertWaits(loop);
        operations.remove(IN_Y);
        scheduler.advance(Duration.ofSeconds(1));
        assertGranted(loop);
    }

    @Test
    void unreadableRule_failsAllItsWaiters() {
        occupyTwice();
        AcquireLoop first = queueing(limited);
        AcquireLoop second = queueing(limited);
        operations.refuse(Request.WATCH, Code.NOAUTH);
        changeLimit(3, PATH);
        scheduler.run();
        assertFailed(first, LockAccessException.class, "watch " + PATH);
        assertFailed(second, LockAccessException.class, "watch " + PATH);
        List<Throwable> told = Stream.of(first, second)
                .map(loop -> loop.outcome().handle((grants, failure) -> failure).join())
                .toList();
        assertThat(told).as("each has the stack trace of its own thread").doesNotHaveDuplicates();
    }

    @Test
    void ruleNobodyWaitsUnder_isWatchedAWhile_andNotForEver() {
        occupyTwice();
        queueing(limited).giveUp();
        scheduler.run();
        assertThat(operations.watched()).containsExactly(LockPath.name(PATH));
        assertLeftNothing();
    }

    @Test
    void recreatedPath_isWatchedAgain() {
        occupyTwice();
        AcquireLoop loop = queueing(limited);
        operations.remove(LockPath.name(PATH)); // cannot be while our node is there, which goes first
        operations.remove(newest());
        scheduler.advance(Duration.ofSeconds(1));
        assertWaits(loop);
        assertThat(operations.watched()).contains(LockPath.name(PATH));
        changeLimit(3, PATH);
        scheduler.run();
        assertGranted(loop);
    }

    // ---- Several as one.

    @Test
    void severalAsOne_areWaitedForTogether_andLetInWithoutARequest() {
        occupyBoth();
        AcquireLoop loop = queueing(spec(X, new MutexDriver()), spec(Y, new MutexDriver()));
        operations.requests();
        operations.remove(IN_X);
        scheduler.run();
        assertWaits(loop);
        operations.remove(IN_Y);
        scheduler.run();
        assertThat(operations.requests()).isEmpty();
        assertGranted(loop);
        assertNobodyWaits();
    }

    @Test
    void severalAsOne_enterAgainTogether() {
        occupyBoth();
        AcquireLoop loop = queueing(spec(X, new MutexDriver()), spec(Y, new MutexDriver()));
        List<String> lost = ours();
        operations.remove(lost.get(1));
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(ours()).hasSize(2).doesNotContainAnyElementsOf(lost);
        operations.remove(IN_Y);
        operations.remove(IN_X);
        scheduler.run();
        assertGranted(loop);
    }

    @Test
    @Tag("H32")
    void firstOfSeveral_grantedByAList_doesNotGrantTheSecondByAnEvent() {
        occupyBoth();
        AcquireLoop loop = queueing(spec(X, new MutexDriver()), spec(Y, new MutexDriver()));
        AcquireLoop behind = queueing(spec(X, new MutexDriver()));
        reconnect();
        operations.remove(IN_X);
        scheduler.run();
        assertWaits(loop);
        behind.giveUp();
        scheduler.run();
        assertWaits(loop);
        operations.remove(IN_Y);
        scheduler.run();
        assertGranted(loop);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void firstOfSeveral_letsInThoseThatMayShare(boolean isGrantedByAList) {
        operations.add(X, "write-0000000000");
        operations.add(Y, IN_Y);
        operations.count(1);
        AcquireLoop loop = queueing(spec(X, ModeDriver.SHARED), spec(Y, new MutexDriver()));
        AcquireLoop beside = queueing(spec(X, ModeDriver.SHARED));
        if (isGrantedByAList) {
            reconnect();
        }
        operations.remove("write-0000000000");
        scheduler.run();
        assertWaits(loop);
        assertGranted(beside);
    }

    @Test
    @Tag("H32")
    void firstOfSeveral_thatIsNotGrantedAnyMore_isWaitedForAgain() {
        occupyBoth();
        AcquireLoop loop = queueing(spec(X, limited), spec(Y, new MutexDriver()));
        changeLimit(1, X);
        scheduler.run();
        assertWaits(loop);
        operations.remove(IN_Y);
        scheduler.run();
        assertWaits(loop);
        operations.remove(IN_X);
        scheduler.run();
        assertGranted(loop);
    }

    @Test
    void ruleOfTheSecond_isWatchedWhileTheFirstIsWaitedFor() {
        occupyBoth();
        AcquireLoop loop = queueing(spec(X, new MutexDriver()), spec(Y, limited));
        assertThat(operations.watched()).contains(LockPath.name(Y));
        changeLimit(1, Y);
        scheduler.run();
        operations.remove(IN_X);
        scheduler.run();
        assertWaits(loop);
        operations.remove(IN_Y);
        scheduler.run();
        assertGranted(loop);
    }

    @Test
    @Tag("H26")
    void severalAsOne_areGrantedWhenAllTheirNodesAreKnownToStand() {
        occupyBoth();
        AcquireLoop loop = launched(
                LockGroup.together(
                        List.of(spec(X, new MutexDriver()), spec(Y, new MutexDriver())), LockOptions.defaults()),
                Mode.QUEUE);
        operations.delayAnswerOf(Request.WATCH_DELETION, Duration.ofSeconds(1)); // on our node in X
        scheduler.run();
        operations.requests();
        operations.remove(IN_X);
        operations.remove(IN_Y);
        scheduler.run();
        assertThat(loop.outcome()).isNotDone();
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(operations.requests()).doesNotContain(Request.LIST);
        assertGranted(loop);
    }

    /** Lets in as many as the data of the path says. */
    private record ByData(int limit) implements SharedRuleDriver, LockNodeDriver {
        @Override
        public byte[] initialRule() {
            return new byte[] {1};
        }

        @Override
        public LockDriver under(byte[] rule) {
            return new ByData(rule[0]);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return predecessors.size() < limit ? Decision.granted() : Decision.waitFor(predecessors);
        }
    }

    /** A list of two paths was lost, so they are listed one by one; the rule of one changes between the answers. */
    @Test
    @Tag("H107")
    void decisionOnAnEarlierList_isNotTakenForOneUnderTheRuleInForce() {
        Duration moment = Duration.ofSeconds(1);
        LockSpec inX = spec(X, new ByData(1));
        occupyBoth();
        operations.change(LockPath.name(X), new byte[] {2});
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS);
        operations.delayAnswerOf(Request.LIST, Duration.ZERO); // of the one that is lost
        operations.delayAnswerOf(Request.LIST, moment);
        AcquireLoop both = launched(
                LockGroup.together(List.of(spec(Y, new MutexDriver()), inX), LockOptions.defaults()), Mode.QUEUE);
        scheduler.advance(moment.dividedBy(2));
        AcquireLoop behind = queueing(inX);
        operations.change(LockPath.name(X), new byte[] {1});
        scheduler.advance(moment);
        assertWaits(behind);
        assertWaits(both);
        scheduler.advance(operations.sessionTimeout()); // by then its nodes are watched
        operations.remove(IN_Y);
        scheduler.advance(moment);
        assertWaits(both);
        operations.remove(IN_X);
        scheduler.advance(moment);
        assertGranted(both);
    }
}
