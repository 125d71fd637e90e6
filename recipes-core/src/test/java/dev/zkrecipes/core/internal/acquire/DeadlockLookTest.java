// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Deadlock;
import dev.zkrecipes.core.DeadlockPolicy;
import dev.zkrecipes.core.LockDeadlockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.ask.DeadlockLook;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** All nodes have the same data here: whoever waits holds the node in front, so it waits for itself. */
class DeadlockLookTest extends AcquireFixture {
    private static final String HOLDER = "0123456789abcdef0123456789abcdef-lock-0000000000";
    private static final LockOptions GIVES_WAY = LockOptions.defaults().withDeadlockPolicy(DeadlockPolicy.FAIL);

    private final List<Deadlock> reports = new ArrayList<>();
    private AcquireLoop waiting;

    @BeforeEach
    void waitBehindTheHolder() {
        operations.add(HOLDER);
        waiting = queueing();
        assertWaits(waiting);
        everyNodeHolds(LockPath.child(PATH, HOLDER));
        operations.requests();
    }

    private void everyNodeHolds(String... nodes) {
        operations.change(HOLDER, OwnerLabel.withHolds(OwnerLabel.encode("x"), List.of(nodes)));
        scheduler.run();
    }

    private boolean look() {
        boolean begins = DeadlockLook.begin(engine.requests(), waiting, reports::add);
        scheduler.run();
        return begins;
    }

    @Test
    void circle_isProvenByOneTransaction_behindReads() {
        assertThat(look()).isTrue();
        assertThat(reports).singleElement().matches(Deadlock::isProven);
        assertThat(operations.requests()).containsExactly(Request.LIST, Request.READ, Request.READ, Request.MULTI);
        assertWaits(waiting);
    }

    @ParameterizedTest
    @CsvSource({"MULTI, NONODE", "MULTI, CONNECTIONLOSS", "READ, CONNECTIONLOSS", "LIST, CONNECTIONLOSS"})
    @Tag("H182")
    void nodesThatAreNotAllSeen_proveNothing(Request request, Code code) {
        operations.refuse(request, code);
        look();
        assertThat(reports).isEmpty();
        look();
        assertThat(reports).hasSize(1);
    }

    @Test
    @Tag("H181")
    void provenCircle_failsTheRequest_ifItIsToGiveWay() {
        waiting = launched(Mode.QUEUE, new TestDriver("lock-"), GIVES_WAY);
        scheduler.run();
        look();
        assertThat(reports).singleElement().matches(Deadlock::isProven);
        assertThat(waiting.outcome()).isCompletedExceptionally();
        assertThatThrownBy(waiting.outcome()::join)
                .cause()
                .isExactlyInstanceOf(LockDeadlockException.class)
                .hasMessageContaining(PATH);
    }

    /** It is only suspected, so it is no reason to give way; but it must not be over by now. */
    @Test
    @Tag("H182")
    void circleThroughAnUnknownRule_failsNobody() {
        operations.remove(HOLDER);
        scheduler.run();
        Grant.of(assertGranted(waiting)).release();
        scheduler.run();
        String seat = HOLDER.replace("lock-", "seat-");
        operations.add(seat);
        waiting = launched(Mode.QUEUE, new TestDriver("seat-"), GIVES_WAY);
        scheduler.run();
        everyNodeHolds(LockPath.child(PATH, seat));
        look();
        assertThat(reports).singleElement().matches(deadlock -> !deadlock.isProven());
        assertWaits(waiting);
        operations.refuse(Request.MULTI, Code.NONODE);
        look();
        assertThat(reports).hasSize(1);
    }

    @Test
    void requestThatIsGrantedMeanwhile_isNotReported() {
        operations.delayAnswerOf(Request.MULTI, timeout);
        look();
        operations.remove(HOLDER);
        scheduler.advance(timeout.multipliedBy(2));
        assertThat(reports).isEmpty();
        assertThat(look()).isFalse();
        Grant.of(assertGranted(waiting)).release();
    }

    /** Anybody may have written them. */
    @ParameterizedTest
    @ValueSource(strings = {"", "/", "x", "//", "/a//b", "/a/\u0007", "/locks/orders/", "holds=/a"})
    void malformedHolds_closeNoCircle(String node) {
        everyNodeHolds(node);
        look();
        assertThat(reports).isEmpty();
        assertWaits(waiting); // the client has not ended itself
    }

    @Test
    @Tag("H182")
    void whatMayNotBeRead_isLeftOut_andALostConnectionEndsTheLook() {
        everyNodeHolds(LockPath.child(PATH, HOLDER), "/others/a/lock-0000000000", "/others/b/lock-0000000000");
        operations.add(PATH, "0".repeat(32) + "-lock-0000000000");
        operations.requests();
        operations.refuse(Request.READ, Code.OK, Code.NOAUTH); // the own node comes first
        operations.refuse(Request.LIST, Code.OK, Code.NOAUTH);
        look();
        assertThat(operations.requests())
                .containsExactly(
                        Request.LIST,
                        Request.READ,
                        Request.READ,
                        Request.READ,
                        Request.LIST,
                        Request.LIST,
                        Request.READ,
                        Request.MULTI);
        assertThat(reports).hasSize(1);
        operations.refuse(Request.LIST, Code.OK, Code.CONNECTIONLOSS);
        look();
        assertThat(operations.requests())
                .containsExactly(Request.LIST, Request.READ, Request.READ, Request.READ, Request.LIST);
        operations.refuse(Request.READ, Code.OK, Code.CONNECTIONLOSS);
        look();
        assertThat(operations.requests()).containsExactly(Request.LIST, Request.READ, Request.READ);
        assertThat(reports).hasSize(1);
    }

    /** A hundred nodes can name eight hundred paths. */
    @Test
    @Tag("H183")
    void look_sendsAHundredReadsAtMost_howeverManyPathsAreNamed() {
        everyNodeHolds(Stream.iterate(1, i -> i <= 8, i -> i + 1)
                .map(i -> "/others/" + "x".repeat(i) + "/lock-0000000000")
                .toArray(String[]::new));
        Stream.iterate(1, i -> i < 300, i -> i + 1)
                .forEach(i -> operations.add("0".repeat(32) + String.format("-lock-%010d", 1000 + i)));
        operations.requests();
        look();
        assertThat(operations.requests()).hasSize(100);
        everyNodeHolds("/others/a/lock-0000000000", LockPath.child(PATH, HOLDER));
        operations.requests();
        look();
        assertThat(operations.requests()).hasSize(101).endsWith(Request.MULTI);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 150})
    void longQueue_hidesNeitherTheRequestItself_norOtherQueues(int between) {
        Stream.iterate(1, i -> i <= between, i -> i + 1)
                .forEach(i -> operations.add("0".repeat(32) + String.format("-lock-%010d", 1000 + i)));
        operations.count(2000); // so that the request stands behind them
        waiting = queueing();
        everyNodeHolds(LockPath.child(PATH, HOLDER), "/others/a/lock-0000000000");
        operations.requests();
        look();
        assertThat(operations.requests().stream().filter(Request.LIST::equals)).hasSize(2);
        assertThat(reports).isNotEmpty();
    }

    /** The proof is one of the node that it had. */
    @Test
    @Tag("H182")
    void requestThatQueuesAnewMeanwhile_isNotReported() {
        operations.delayAnswerOf(Request.MULTI, timeout);
        look();
        operations.remove(newest());
        scheduler.advance(timeout.multipliedBy(2));
        assertWaits(waiting);
        assertThat(reports).isEmpty();
    }

    /** The seconds of this time in which a look has come to its end. */
    private List<Integer> looksWithin(Duration time) {
        List<Integer> looks = new ArrayList<>();
        for (int second = 1; second <= time.toSeconds(); second++) {
            operations.requests();
            scheduler.advance(Duration.ofSeconds(1));
            long count =
                    operations.requests().stream().filter(Request.MULTI::equals).count();
            looks.addAll(Collections.nCopies((int) count, second));
        }
        return looks;
    }

    /** A thousand threads may wait for one lock, each with a lock of its own. */
    @Test
    @Tag("H183")
    void requestsOfOneClient_areLookedAtOneByOne_aSecondApart() {
        Stream.of(queueing(), queueing(), queueing()).forEach(nested -> engine.watchForDeadlocks(nested, null));
        assertThat(looksWithin(Duration.ofSeconds(65))).containsExactly(10, 11, 12);
        assertThat(looksWithin(Duration.ofSeconds(30))).hasSize(3).doesNotHaveDuplicates();
    }

    @Test
    @Tag("H183")
    void looksOfARequest_areMoreThanAMinuteApart_andSpread() {
        engine.watchForDeadlocks(waiting, null);
        List<Integer> looks = looksWithin(Duration.ofMinutes(15));
        List<Integer> pauses = IntStream.range(1, looks.size())
                .mapToObj(i -> looks.get(i) - looks.get(i - 1))
                .toList();
        assertThat(pauses).hasSizeGreaterThan(10).allMatch(seconds -> seconds >= 60 && seconds <= 76);
        assertThat(Set.copyOf(pauses)).hasSizeGreaterThan(3);
    }

    @Test
    void requestInTheMiddleOfAStep_isLookedAtASecondLater_andOneThatIsOverNeverAgain() {
        operations.delayAnswerOf(Request.LIST, Duration.ofMillis(13_500));
        AcquireLoop late = launchedBehind(Mode.QUEUE);
        engine.watchForDeadlocks(late, null);
        assertThat(looksWithin(Duration.ofSeconds(30))).containsExactly(14);
        late.giveUp();
        scheduler.advance(Duration.ofSeconds(2));
        long delays = seconds();
        scheduler.advance(Duration.ofMinutes(3));
        assertThat(seconds()).isEqualTo(delays);
    }

    private long seconds() {
        return scheduler.delays().stream().filter(Duration.ofSeconds(1)::equals).count();
    }
}
