// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static dev.zkrecipes.core.internal.acquire.AcquireFixture.PATH;
import static dev.zkrecipes.core.internal.acquire.AcquireFixture.assertWaits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
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
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Drivers whose rule is data of the path, and several locks that are waited for as one. */
class QueueViewRuleTest {
    private static final String X = "/locks/x";
    private static final String Y = "/locks/y";
    private static final String IN_X = "lock-0000000000";
    private static final String IN_Y = "lock-0000000001";

    private final AcquireFixture fixture = new AcquireFixture();
    private final ManualScheduler scheduler = fixture.scheduler;
    private final ScriptedOperations operations = fixture.operations;
    private final AtomicInteger limit = new AtomicInteger(2);
    private final LockDriver limited = new LimitDriver(limit);

    private void changeLimit(int next, String path) {
        limit.set(next);
        operations.change(LockPath.name(path));
    }

    private AcquireLoop queueing(LockSpec... specs) {
        AcquireLoop loop = fixture.launched(LockGroup.together(List.of(specs), LockOptions.defaults()), Mode.QUEUE);
        scheduler.run();
        operations.requests();
        return loop;
    }

    private LockSpec spec(String path, LockDriver driver) {
        return fixture.specAt(path, driver, LockOptions.defaults());
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
        AcquireLoop first = fixture.queueing(limited);
        AcquireLoop second = fixture.queueing(limited);
        AcquireLoop third = fixture.queueing(limited);
        operations.requests();
        changeLimit(4, PATH);
        scheduler.run();
        assertThat(operations.requests())
                .startsWith(Request.WATCH, Request.LIST)
                .hasSize(2);
        fixture.assertGranted(first);
        fixture.assertGranted(second);
        assertWaits(third);
    }

    @Test
    void unchangedRuleReadAgain_changesNothing() {
        occupyTwice();
        AcquireLoop loop = fixture.queueing(limited);
        operations.requests();
        fixture.queueing(limited);
        assertThat(operations.requests()).doesNotContain(Request.WATCH);
        assertWaits(loop);
    }

    @Test
    void eventDuringTheReadOfTheRule_isNotDecidedByTheOldRule() {
        occupyTwice();
        AcquireLoop loop = fixture.queueing(limited);
        changeLimit(1, PATH);
        operations.remove(IN_X);
        scheduler.run();
        assertWaits(loop);
        operations.remove(IN_Y);
        scheduler.run();
        fixture.assertGranted(loop);
    }

    @Test
    void newRuleInTheListOfAnotherRequest_isNotMissed() {
        occupyTwice();
        AcquireLoop first = fixture.queueing(limited);
        operations.delayAnswerOf(Request.WATCH, Duration.ofMillis(50));
        changeLimit(3, PATH);
        AcquireLoop second = fixture.queueing(limited); // whose list comes before the answer to the read
        scheduler.advance(Duration.ofSeconds(1));
        fixture.assertGranted(first);
        assertWaits(second);
    }

    @Test
    void listWithoutTheRule_leavesNobodyUnderAnOldOne() {
        occupyTwice();
        AcquireLoop loop = fixture.queueing(limited);
        AcquireLoop other = fixture.queueing(new MutexDriver()); // asks for no data
        changeLimit(3, PATH);
        scheduler.run();
        fixture.assertGranted(loop);
        assertWaits(other);
    }

    @Test
    void ruleThatChangesDuringTheProof_decides() {
        occupyTwice();
        AcquireLoop loop = fixture.queueing(limited);
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
        fixture.assertGranted(loop);
    }

    @Test
    void unreadableRule_failsAllItsWaiters() {
        occupyTwice();
        AcquireLoop first = fixture.queueing(limited);
        AcquireLoop second = fixture.queueing(limited);
        operations.refuse(Request.WATCH, Code.NOAUTH);
        changeLimit(3, PATH);
        scheduler.run();
        fixture.assertFailed(first, LockAccessException.class, "watch " + PATH);
        fixture.assertFailed(second, LockAccessException.class, "watch " + PATH);
        List<Throwable> told = Stream.of(first, second)
                .map(loop -> loop.outcome().handle((grants, failure) -> failure).join())
                .toList();
        assertThat(told).as("each has the stack trace of its own thread").doesNotHaveDuplicates();
    }

    @Test
    void ruleNobodyWaitsUnder_isWatchedAWhile_andNotForEver() {
        occupyTwice();
        fixture.queueing(limited).giveUp();
        scheduler.run();
        assertThat(operations.watched()).containsExactly(LockPath.name(PATH));
        fixture.assertLeftNothing();
    }

    @Test
    void recreatedPath_isWatchedAgain() {
        occupyTwice();
        AcquireLoop loop = fixture.queueing(limited);
        operations.remove(LockPath.name(PATH)); // cannot be while our node is there, which goes first
        operations.remove(fixture.newest());
        scheduler.advance(Duration.ofSeconds(1));
        assertWaits(loop);
        assertThat(operations.watched()).contains(LockPath.name(PATH));
        changeLimit(3, PATH);
        scheduler.run();
        fixture.assertGranted(loop);
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
        fixture.assertGranted(loop);
        fixture.assertNobodyWaits();
    }

    @Test
    void severalAsOne_enterAgainTogether() {
        occupyBoth();
        AcquireLoop loop = queueing(spec(X, new MutexDriver()), spec(Y, new MutexDriver()));
        List<String> lost = fixture.ours();
        operations.remove(lost.get(1));
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(fixture.ours()).hasSize(2).doesNotContainAnyElementsOf(lost);
        operations.remove(IN_Y);
        operations.remove(IN_X);
        scheduler.run();
        fixture.assertGranted(loop);
    }

    @Test
    @Tag("H32")
    void firstOfSeveral_grantedByAList_doesNotGrantTheSecondByAnEvent() {
        occupyBoth();
        AcquireLoop loop = queueing(spec(X, new MutexDriver()), spec(Y, new MutexDriver()));
        AcquireLoop behind = queueing(spec(X, new MutexDriver()));
        fixture.reconnect();
        operations.remove(IN_X);
        scheduler.run();
        assertWaits(loop);
        behind.giveUp();
        scheduler.run();
        assertWaits(loop);
        operations.remove(IN_Y);
        scheduler.run();
        fixture.assertGranted(loop);
    }

    @Test
    void firstOfSeveral_grantedByAnEvent_letsInThoseThatMayShare() {
        operations.add(X, "write-0000000000");
        operations.add(Y, IN_Y);
        operations.count(1);
        AcquireLoop loop = queueing(spec(X, ModeDriver.SHARED), spec(Y, new MutexDriver()));
        AcquireLoop beside = queueing(spec(X, ModeDriver.SHARED));
        operations.remove("write-0000000000");
        scheduler.run();
        assertWaits(loop);
        fixture.assertGranted(beside);
    }

    @Test
    void firstOfSeveral_grantedByAList_letsInThoseThatMayShare() {
        operations.add(X, "write-0000000000");
        operations.add(Y, IN_Y);
        operations.count(1);
        AcquireLoop loop = queueing(spec(X, ModeDriver.SHARED), spec(Y, new MutexDriver()));
        AcquireLoop beside = queueing(spec(X, ModeDriver.SHARED));
        fixture.reconnect();
        operations.remove("write-0000000000");
        scheduler.run();
        assertWaits(loop);
        fixture.assertGranted(beside);
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
        fixture.assertGranted(loop);
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
        fixture.assertGranted(loop);
    }

    @Test
    @Tag("H26")
    void severalAsOne_areGrantedOnlyByAListUntilAllTheirNodesAreWatched() {
        occupyBoth();
        AcquireLoop loop = fixture.launched(
                LockGroup.together(
                        List.of(spec(X, new MutexDriver()), spec(Y, new MutexDriver())), LockOptions.defaults()),
                Mode.QUEUE);
        operations.delayAnswerOf(Request.WATCH_DELETION, Duration.ofSeconds(1)); // on our node in X
        scheduler.run();
        operations.requests();
        operations.remove(IN_X);
        operations.remove(IN_Y);
        scheduler.run();
        assertThat(operations.requests()).contains(Request.LIST);
        fixture.assertGranted(loop);
    }

    /** Lets in as many as the data of the path says. */
    private record ByData(int limit) implements SharedRuleDriver {
        @Override
        public String nodeName() {
            return "lock-";
        }

        @Override
        public byte[] initialRule() {
            return new byte[] {1};
        }

        @Override
        public LockDriver under(byte[] rule) {
            return new ByData(rule[0]);
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parse(childName, "lock-");
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
        AcquireLoop both = fixture.launched(
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
        fixture.assertGranted(both);
    }
}
