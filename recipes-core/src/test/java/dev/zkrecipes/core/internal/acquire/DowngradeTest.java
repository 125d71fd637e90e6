// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A thread that holds a lock in its exclusive mode, at time 0, asks for the shared one. */
class DowngradeTest extends AcquireFixture {
    private static final Duration SOON = Duration.ofSeconds(2); // no lease is checked that early

    private HeldNode exclusive;

    @BeforeEach
    void hold() {
        exclusive = assertGranted(queueing(new TestDriver("write-")));
        operations.requests();
    }

    private Downgrade begun(Mode mode) {
        Downgrade downgrade = new Downgrade(engine.requests(), spec(new TestDriver("read-")), exclusive, mode);
        downgrade.launch();
        return downgrade;
    }

    private Downgrade downgrade(Mode mode) {
        Downgrade downgrade = begun(mode);
        scheduler.run();
        return downgrade;
    }

    private String exclusiveNode() {
        return LockPath.name(exclusive.nodePath());
    }

    private HeldNode assertGranted(Downgrade downgrade) {
        assertThat(downgrade.outcome()).isCompletedWithValueMatching(grants -> grants.isPresent());
        HeldNode shared = (HeldNode) downgrade.outcome().join().orElseThrow().first();
        assertThat(shared.state()).isEqualTo(LeaseState.HELD);
        assertThat(exclusive.state()).isEqualTo(LeaseState.HELD);
        assertThat(operations.nodes()).containsExactlyInAnyOrder(exclusiveNode(), LockPath.name(shared.nodePath()));
        assertThat(engine.requests().open()).isEmpty();
        return shared;
    }

    private void assertFailed(Downgrade downgrade, Class<? extends LockException> type, String message) {
        assertThat(downgrade.outcome()).isCompletedExceptionally();
        assertThatThrownBy(downgrade.outcome()::join)
                .cause()
                .isExactlyInstanceOf(type)
                .hasMessageContaining(PATH)
                .hasMessageContaining(message);
        assertThat(engine.requests().open()).isEmpty();
    }

    private void assertLeftOnlyTheExclusive() {
        scheduler.advance(SOON);
        assertThat(operations.nodes()).as("left behind").allMatch(exclusiveNode()::equals);
        assertThat(engine.cleaner().isEmpty()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    @Tag("H04")
    void sharedHold_keepsThePlaceAndTheTokenOfTheExclusiveOne(Mode mode) {
        HeldNode shared = assertGranted(downgrade(mode));
        String name = LockPath.name(shared.nodePath());
        String number = exclusiveNode().substring(exclusiveNode().length() - LockNode.SEQUENCE_DIGITS);
        assertThat(name).endsWith("-read-" + number);
        assertThat(shared.token()).isEqualTo(exclusive.token());
        assertThat(operations.requests()).as("one round trip").containsExactly(Request.MULTI);
    }

    @Test
    void sharedHold_isALeaseOfItsOwn() {
        HeldNode shared = assertGranted(downgrade(Mode.QUEUE));
        Grant.of(exclusive).release();
        scheduler.advance(Duration.ofSeconds(60));
        assertThat(shared.state()).isEqualTo(LeaseState.HELD);
        assertThat(operations.nodes()).containsExactly(LockPath.name(shared.nodePath()));
        become(State.EXPIRED);
        assertThat(shared.hasEnded()).as("told of the end of its session").isTrue();
    }

    @Test
    @Tag("H07")
    void sharedHold_isProvenFromTheTimeOfTheRequest() {
        Duration untilAnswered = Duration.ofMillis(500); // before the next check
        scheduler.advance(Duration.ofSeconds(4));
        operations.delayAnswerOf(Request.MULTI, untilAnswered);
        Downgrade downgrade = downgrade(Mode.QUEUE);
        scheduler.advance(untilAnswered);
        HeldNode shared = assertGranted(downgrade);
        for (int i = 0; i < 10; i++) {
            operations.refuse(Request.MULTI, Code.CONNECTIONLOSS); // of the lease's checks
        }
        scheduler.advance(operations.sessionTimeout().minus(untilAnswered).minusMillis(1));
        assertThat(shared.state()).isEqualTo(LeaseState.SUSPENDED);
        scheduler.advance(Duration.ofMillis(1));
        assertThat(shared.state()).isEqualTo(LeaseState.LOST);
    }

    /** A server thread that stood still carries the first request out when the node of the second one is gone again. */
    @Test
    void sharedNode_madeAgainByTheFirstOfTwoRequests_isDeleted() {
        operations.refuse(Request.MULTI, Code.CONNECTIONLOSS);
        Downgrade downgrade = downgrade(Mode.QUEUE);
        scheduler.advance(SOON);
        HeldNode shared = assertGranted(downgrade);
        String name = LockPath.name(shared.nodePath());
        Grant.of(shared).release();
        scheduler.run();
        assertThat(operations.nodes()).containsExactly(exclusiveNode());
        operations.add(name);
        scheduler.advance(operations.sessionTimeout().multipliedBy(2));
        assertThat(operations.nodes()).containsExactly(exclusiveNode());
    }

    @Test
    @Tag("H03")
    void missingExclusiveNode_isALostLockAndNoSharedOne() {
        operations.remove(exclusiveNode());
        Downgrade downgrade = downgrade(Mode.QUEUE);
        assertFailed(downgrade, LockLostException.class, "was deleted by somebody else");
        assertThat(exclusive.state()).isEqualTo(LeaseState.LOST);
        assertLeftOnlyTheExclusive();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    @Tag("H03")
    void endedSession_isALostLockAndSendsNothing() {
        become(State.EXPIRED);
        scheduler.run();
        operations.requests();
        assertFailed(downgrade(Mode.QUEUE), LockLostException.class, "EXPIRED");
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    @Tag("H03")
    void answerOfAnExpiredSession_isALostLock() {
        operations.refuse(Request.MULTI, Code.SESSIONEXPIRED);
        assertFailed(downgrade(Mode.QUEUE), LockLostException.class, "EXPIRED");
        assertThat(exclusive.state()).isEqualTo(LeaseState.LOST);
        scheduler.advance(operations.sessionTimeout().multipliedBy(2)); // until the server must have ended it, too
        assertLeftOnlyTheExclusive();
    }

    @Test
    @Tag("H03")
    void endOfTheSessionMeanwhile_isALostLock() {
        become(State.DISCONNECTED);
        Downgrade downgrade = downgrade(Mode.QUEUE);
        become(State.EXPIRED);
        scheduler.run();
        assertFailed(downgrade, LockLostException.class, "EXPIRED");
        assertLeftOnlyTheExclusive();
    }

    @Test
    @Tag("H08")
    void exclusiveLockLostBeforeTheAnswer_isNotShared() {
        become(State.DISCONNECTED);
        Downgrade downgrade = downgrade(Mode.QUEUE);
        become(State.CONNECTED);
        scheduler.stop(operations.sessionTimeout());
        assertFailed(downgrade, LockLostException.class, "a whole session time-out");
        assertLeftOnlyTheExclusive();
    }

    @Test
    @Tag("H21")
    void lostAnswer_isAskedForAgainAndMakesOneNode() {
        operations.loseAnswerOf(Request.MULTI);
        operations.refuse(Request.MULTI, Code.CONNECTIONLOSS);
        Downgrade downgrade = downgrade(Mode.QUEUE);
        assertThat(downgrade.outcome()).isNotDone();
        scheduler.advance(SOON);
        assertGranted(downgrade);
        assertThat(operations.requests()).hasSize(3).containsOnly(Request.MULTI);
    }

    @Test
    void tryWithALostAnswer_failsAndLeavesNoNode() {
        operations.loseAnswerOf(Request.MULTI);
        assertFailed(downgrade(Mode.TRY), LockConnectionException.class, "CONNECTIONLOSS");
        assertLeftOnlyTheExclusive();
        assertThat(operations.deleted()).hasSize(1);
    }

    @Test
    void refusedRequest_failsAndLooksForNoNode() {
        operations.refuse(Request.MULTI, Code.NOAUTH);
        assertFailed(downgrade(Mode.QUEUE), LockAccessException.class, "refused to create the node");
        assertLeftOnlyTheExclusive();
        assertThat(operations.requests()).containsExactly(Request.MULTI);
    }

    @Test
    @Tag("H40")
    void refusedRequestAfterALostAnswer_leavesNoNode() {
        operations.loseAnswerOf(Request.MULTI);
        operations.refuse(Request.MULTI, Code.NOAUTH);
        Downgrade downgrade = downgrade(Mode.QUEUE);
        assertThat(operations.nodes()).hasSize(2);
        scheduler.advance(SOON);
        assertFailed(downgrade, LockAccessException.class, "refused to create the node");
        assertLeftOnlyTheExclusive();
    }

    @Test
    void tryWithoutAConnection_failsAtOnceAndSendsNothing() {
        become(State.DISCONNECTED);
        assertFailed(downgrade(Mode.TRY), LockConnectionException.class, "not connected");
        assertThat(operations.requests()).isEmpty();
        assertThat(engine.cleaner().isEmpty()).isTrue();
    }

    @Test
    @Tag("H25")
    void withoutAConnection_theRequestWaitsForOne() {
        become(State.DISCONNECTED);
        Downgrade downgrade = downgrade(Mode.QUEUE);
        scheduler.advance(SOON);
        assertThat(downgrade.outcome()).isNotDone();
        assertThat(operations.requests()).isEmpty();
        become(State.CONNECTED);
        scheduler.run();
        assertGranted(downgrade);
    }

    @Test
    void givingUpAtOnce_sendsNothing() {
        Downgrade downgrade = begun(Mode.QUEUE);
        assertThat(downgrade.giveUp()).isTrue();
        assertThat(downgrade.giveUp()).isFalse();
        scheduler.run();
        assertThat(operations.requests()).isEmpty();
        assertThat(engine.requests().open()).isEmpty();
        assertThat(engine.cleaner().isEmpty()).isTrue();
    }

    @Test
    @Tag("H40")
    void givingUpAfterALostAnswer_leavesNoNodeAndSendsNothingAgain() {
        operations.loseAnswerOf(Request.MULTI);
        Downgrade downgrade = downgrade(Mode.QUEUE);
        assertThat(operations.nodes()).hasSize(2);
        assertThat(downgrade.giveUp()).isTrue();
        assertLeftOnlyTheExclusive();
        assertThatThrownBy(downgrade.outcome()::join).isInstanceOf(CancellationException.class);
        assertThat(engine.requests().open()).isEmpty();
        assertThat(exclusive.state()).isEqualTo(LeaseState.HELD);
        assertThat(operations.requests())
                .as("the request, and the search for its node")
                .containsExactly(Request.MULTI, Request.MULTI, Request.LIST, Request.DELETE);
    }

    @Test
    @Tag("H36")
    void unwantedGrant_isGivenBackOnce() {
        become(State.DISCONNECTED);
        Downgrade downgrade = downgrade(Mode.QUEUE);
        become(State.CONNECTED);
        downgrade.giveUp(); // behind the answer, which is there already
        assertLeftOnlyTheExclusive();
        assertThat(operations.deleted()).hasSize(1);
        assertThat(exclusive.state()).isEqualTo(LeaseState.HELD);
    }
}
