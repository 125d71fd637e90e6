// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.base.Ascii;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** How an attempt goes on, or ends, when something fails at one step of it. */
class AcquireLoopTroubleTest extends AcquireFixture {
    private static final LockOptions FAILING = LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL);

    private AcquireLoop attempt(Mode mode, LockOptions options) {
        AcquireLoop attempt = launched(mode, new TestDriver("lock-"), options);
        scheduler.run();
        return attempt;
    }

    /** Nothing is known any more of when the leader heard of the session. */
    private void idle() {
        scheduler.run();
        scheduler.advance(operations.sessionTimeout());
    }

    private void assertGrantedAtLast(AcquireLoop attempt) {
        scheduler.advance(Duration.ofSeconds(20));
        HeldNode held = assertGranted(attempt);
        assertThat(operations.nodes()).containsExactly(LockPath.name(held.nodePath()));
        assertNobodyWaits();
    }

    @Test
    void tryOnABusyLock_isEmptyAndWritesNothing() {
        operations.add(OTHER);
        AcquireLoop attempt = attempt(Mode.TRY, LockOptions.defaults());
        assertThat(attempt.outcome()).isCompletedWithValueMatching(grants -> grants.isEmpty());
        assertThat(operations.requests()).containsExactly(Request.LIST);
    }

    @Test
    void tryOnALockTakenMeanwhile_isEmptyAndLeavesNoNode() {
        operations.show(names -> names.isEmpty() ? names : List.of(OTHER, names.get(0)));
        AcquireLoop attempt = attempt(Mode.TRY, LockOptions.defaults());
        assertThat(attempt.outcome()).isCompletedWithValueMatching(grants -> grants.isEmpty());
        assertThat(operations.nodes()).isEmpty();
        assertThat(operations.requests()).doesNotContain(Request.WATCH_DELETION);
    }

    // ---- Behind a node of our own that is on its way out.

    /** Its deletion is under way, and the next list shows it still. */
    private String leaving() {
        HeldNode held = assertGranted(queueing());
        String name = LockPath.name(held.nodePath());
        operations.delayAnswerOf(Request.DELETE, Duration.ofSeconds(5));
        Grant.of(held).release();
        scheduler.run();
        return name;
    }

    private void showOnce(String name) {
        operations.show(names -> {
            operations.show(later -> later);
            return Stream.concat(Stream.of(name), names.stream()).toList();
        });
    }

    @Test
    @Tag("H88")
    void tryBehindAnOwnNodeUnderDeletion_isGranted() {
        showOnce(leaving());
        assertGrantedAtLast(attempt(Mode.TRY, LockOptions.defaults()));
    }

    @Test
    @Tag("H88")
    void tryBehindAnOwnNodeUnderDeletion_isNotGrantedPastOthers() {
        showOnce(leaving());
        operations.add(OTHER);
        AcquireLoop attempt = attempt(Mode.TRY, LockOptions.defaults());
        assertThat(attempt.outcome()).isCompletedWithValueMatching(grants -> grants.isEmpty());
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    @Tag("H88")
    void requestBehindAnUndeletableOwnNode_failsAndNamesIt(Mode mode) {
        HeldNode held = assertGranted(queueing());
        operations.refuse(Request.DELETE, Code.NOAUTH);
        Grant.of(held).release();
        scheduler.run();
        operations.refuse(Request.MULTI, Code.NOAUTH); // another one that hurries
        AcquireLoop attempt = attempt(mode, LockOptions.defaults());
        assertThat(attempt.outcome()).isCompletedExceptionally();
        assertFailed(attempt, LockAccessException.class, held.nodePath());
    }

    @Test
    void tryWithoutAConnection_failsAtOnce() {
        operations.begin(State.DISCONNECTED);
        assertFailed(attempt(Mode.TRY, LockOptions.defaults()), LockConnectionException.class, "whether the lock");
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    void tryWithALostAnswer_failsAndLeavesNoNode() {
        scheduler.run();
        operations.loseAnswerOf(Request.CREATE); // the list before it was answered
        assertFailed(attempt(Mode.TRY, LockOptions.defaults()), LockConnectionException.class, "CONNECTIONLOSS");
    }

    /** It may have been refused with the whole connection, which only another question shows. */
    @Test
    @Tag("H151")
    void tryThatLosesTheFirstAnswerOfASession_asksAgain() {
        scheduler.run();
        operations.loseAnswerOf(Request.LIST);
        AcquireLoop attempt = attempt(Mode.TRY, LockOptions.defaults());
        scheduler.advance(Duration.ofSeconds(2));
        assertGrantedAtLast(attempt);
    }

    @ParameterizedTest
    @EnumSource(names = {"LIST", "CREATE"})
    void requestWithALostAnswer_isSettled(Request request) {
        scheduler.run();
        operations.loseAnswerOf(request);
        assertGrantedAtLast(queueing());
    }

    @ParameterizedTest
    @EnumSource(names = {"LIST", "CREATE"})
    void lostRequest_isSentAgain(Request request) {
        scheduler.run();
        operations.refuse(request, Code.CONNECTIONLOSS);
        assertGrantedAtLast(queueing());
    }

    @ParameterizedTest
    @EnumSource(names = {"LIST", "CREATE"})
    void refusedRequest_endsTheAttempt(Request request) {
        scheduler.run();
        operations.refuse(request, Code.NOAUTH);
        assertFailed(queueing(), LockAccessException.class, "refused to " + Ascii.toLowerCase(request.name()));
    }

    @Test
    void missingPath_inAMissingFolder_isCreated() {
        scheduler.run();
        operations.refuse(Request.CREATE, Code.NONODE);
        operations.refuse(Request.MULTI, Code.NONODE);
        assertGrantedAtLast(queueing());
        assertThat(operations.requests()).contains(Request.MAKE_PATH);
    }

    @Test
    void failureToCreateThePath_endsTheAttempt() {
        scheduler.run();
        operations.refuse(Request.CREATE, Code.NONODE, Code.NONODE);
        operations.refuse(Request.MULTI, Code.NOAUTH);
        operations.refuse(Request.MAKE_PATH, Code.NOAUTH);
        assertFailed(
                queueing(),
                LockAccessException.class,
                "refused to create the path " + PATH
                        + " (NOAUTH); the client needs CREATE on the nearest node above it that"
                        + " exists; grant that, or have somebody else make the path");
    }

    @Test
    void lostCreateOfThePath_isRepeated() {
        scheduler.run();
        operations.refuse(Request.CREATE, Code.NONODE);
        operations.refuse(Request.MULTI, Code.NONODE);
        operations.refuse(Request.MAKE_PATH, Code.CONNECTIONLOSS);
        assertGrantedAtLast(queueing());
        assertThat(operations.requests()).containsOnlyOnce(Request.MAKE_PATH); // and then the node, which says more
    }

    @Test
    void settling_needsItsWriteCommittedAndItsListSeen() {
        scheduler.run();
        operations.loseAnswerOf(Request.CREATE);
        operations.refuse(Request.MULTI, Code.CONNECTIONLOSS);
        AcquireLoop attempt = queueing();
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS);
        assertGrantedAtLast(attempt);
    }

    @ParameterizedTest
    @CsvSource({"MULTI, list", "READ, read"})
    void refusedSettling_endsTheAttempt(Request refused, String what) {
        scheduler.run();
        operations.loseAnswerOf(Request.CREATE);
        operations.refuse(refused, Code.NOAUTH);
        AcquireLoop attempt = queueing();
        scheduler.advance(Duration.ofSeconds(2));
        assertFailed(attempt, LockAccessException.class, what);
    }

    @Test
    @Tag("H01")
    @Tag("H06")
    void foundNode_isAdoptedOnlyIfItIsOfThisSession() {
        scheduler.run();
        operations.own(ScriptedOperations.SESSION + 1);
        operations.loseAnswerOf(Request.CREATE);
        assertGrantedAtLast(queueing());
        assertThat(operations.deleted()).as("the one that is not ours").hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Code.class,
            names = {"NONODE", "CONNECTIONLOSS"})
    void foundNodeWithALostRead_isLookedForAgain(Code code) {
        scheduler.run();
        operations.loseAnswerOf(Request.CREATE);
        operations.refuse(Request.READ, code);
        assertGrantedAtLast(queueing());
    }

    private List<Request> requestsAfterAFreshWriteThatGot(Code code) {
        idle();
        operations.add(OTHER);
        AcquireLoop attempt = queueing();
        scheduler.advance(Duration.ofSeconds(10));
        operations.refuse(Request.MULTI, code);
        operations.remove(OTHER);
        operations.requests();
        assertGrantedAtLast(attempt);
        return operations.requests();
    }

    @Test
    void failedFreshWrite_isNoGrant() {
        assertThat(requestsAfterAFreshWriteThatGot(Code.CONNECTIONLOSS))
                .startsWith(Request.MULTI, Request.MULTI, Request.LIST);
    }

    @Test
    void freshWriteThatFindsNoNode_isNoGrant_butProvesTheSession() {
        assertThat(requestsAfterAFreshWriteThatGot(Code.NONODE)).startsWith(Request.MULTI, Request.LIST);
    }

    @Test
    void refusedFreshWrite_endsTheAttempt() {
        idle();
        operations.add(OTHER);
        AcquireLoop attempt = queueing();
        scheduler.advance(Duration.ofSeconds(10));
        operations.refuse(Request.MULTI, Code.NOAUTH);
        operations.remove(OTHER);
        scheduler.run();
        assertFailed(attempt, LockAccessException.class, "check");
    }

    @Test
    void refusedWatchOfTheOwnNode_endsTheAttempt() {
        operations.add(OTHER);
        operations.refuse(Request.WATCH_DELETION, Code.NOAUTH);
        assertFailed(queueing(), LockAccessException.class, "-lock-000");
    }

    @Test
    void endOfTheSession_costsThePlaceInTheQueue() {
        operations.add(OTHER);
        AcquireLoop attempt = attempt(Mode.QUEUE, FAILING);
        become(State.EXPIRED);
        scheduler.run();
        assertFailed(attempt, QueuePlaceLostException.class, "EXPIRED");
    }

    @Test
    void refusedCredentials_endTheAttempt() {
        operations.add(OTHER);
        AcquireLoop attempt = queueing();
        become(State.AUTH_FAILED);
        scheduler.run();
        assertThatThrownBy(attempt.outcome()::join).cause().isExactlyInstanceOf(LockAccessException.class);
    }

    @Test
    void answerOfAnExpiredSession_endsTheSession() {
        scheduler.run();
        operations.refuse(Request.LIST, Code.SESSIONEXPIRED);
        assertFailed(attempt(Mode.QUEUE, FAILING), QueuePlaceLostException.class, "EXPIRED");
    }

    @Test
    void givingUp_leavesNoNodeAndNoWatch() {
        operations.add(OTHER);
        AcquireLoop attempt = queueing();
        assertThat(attempt.giveUp()).isTrue();
        assertThat(attempt.giveUp()).isFalse();
        scheduler.run();
        assertThatThrownBy(attempt.outcome()::join).isInstanceOf(CancellationException.class);
        assertThat(operations.nodes()).containsExactly(OTHER);
        assertThat(operations.watched()).isEmpty();
        assertThat(operations.dropped()).containsExactly(OTHER); // that of its own node went with the node
        assertLeftNothing();
    }

    @Test
    void givingUpAtOnce_sendsNothing() {
        AcquireLoop attempt = launched(Mode.QUEUE);
        attempt.giveUp();
        scheduler.run();
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    void unwantedGrant_isGivenBack() {
        AcquireLoop attempt = launched(Mode.QUEUE);
        operations.show(names -> {
            attempt.outcome().cancel(false);
            return names;
        });
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
        assertThat(operations.deleted()).hasSize(1);
    }

    @Test
    void withoutAConnection_theRequestWaitsForOne() {
        operations.begin(State.DISCONNECTED);
        AcquireLoop attempt = queueing();
        assertThat(operations.requests()).isEmpty();
        become(State.CONNECTED);
        assertGrantedAtLast(attempt);
    }

    @Test
    void writesOfEarlierConnections_proveNothingOnThisOne() {
        scheduler.run();
        scheduler.advance(operations.sessionTimeout());
        AcquireLoop attempt = launched(Mode.QUEUE);
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS);
        scheduler.run();
        reconnect();
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS);
        scheduler.run();
        reconnect();
        scheduler.run();
        scheduler.advance(Duration.ofSeconds(2));
        assertGranted(attempt); // and HELD
    }

    @Test
    void nodeGoneAfterALostConnection_wasDeleted() {
        operations.loseAnswerOf(Request.CREATE);
        operations.loseAnswerOf(Request.LIST);
        AcquireLoop attempt = launched(Mode.QUEUE, new TestDriver("lock-"), FAILING);
        operations.refuse(Request.READ, Code.CONNECTIONLOSS);
        scheduler.run();
        reconnect();
        scheduler.run();
        become(State.DISCONNECTED);
        ours().forEach(operations::removeUntold);
        become(State.CONNECTED);
        scheduler.run();
        scheduler.advance(Duration.ofSeconds(2));
        assertFailed(attempt, QueuePlaceLostException.class, "deleted by somebody else");
    }

    /** Two paths were listed one by one, and a server that had stood still made the nodes between the two lists. */
    @Test
    @Tag("H108")
    void nodesMadeBetweenTheListsOfTwoPaths_areFound() {
        AcquireLoop both = launchedWithLostCreate();
        List<String> made = ours();
        List<String> late = new ArrayList<>(made.subList(0, 1));
        operations.show(
                names -> names.stream().filter(name -> !late.remove(name)).toList());
        scheduler.advance(Duration.ofSeconds(2));
        assertGranted(both);
        assertThat(late).isEmpty();
        assertThat(ours()).isEqualTo(made);
    }

    @Test
    @Tag("H108")
    void nodeThatIsMissingOnceTheOtherWasSeen_wasDeleted() {
        AcquireLoop both = launchedWithLostCreate();
        List<String> made = ours();
        operations.removeUntold(made.get(0));
        scheduler.advance(Duration.ofSeconds(2));
        assertGranted(both);
        assertThat(ours()).hasSize(2).doesNotContainAnyElementsOf(made);
    }

    @Test
    @Tag("H108")
    void sessionThatEndsWhenOnlyOneNodeWasSeen_costsAPlace() {
        AcquireLoop both = launchedWithLostCreate(FAILING);
        String first = ours().get(0);
        operations.show(
                names -> names.stream().filter(name -> !name.equals(first)).toList());
        operations.delayAnswerOf(Request.LIST, Duration.ZERO);
        operations.delayAnswerOf(Request.LIST, Duration.ofSeconds(5)); // of the second look
        scheduler.advance(Duration.ofSeconds(2));
        assertThat(both.isIn(AcquireLoop.Step.SETTLING)).isTrue();
        become(State.EXPIRED);
        ours().forEach(operations::removeUntold);
        scheduler.advance(
                timeout.multipliedBy(2)); // the other node is looked for until the server has ended its session
        assertFailed(both, QueuePlaceLostException.class, "session has ended");
    }

    private AcquireLoop launchedWithLostCreate() {
        return launchedWithLostCreate(LockOptions.defaults());
    }

    private AcquireLoop launchedWithLostCreate(LockOptions ofAll) {
        operations.loseAnswerOf(Request.MULTI);
        LockGroup group = LockGroup.together(
                together(LockOptions.defaults(), "/locks/another", PATH).all(), ofAll);
        AcquireLoop both = launched(group, Mode.QUEUE);
        scheduler.run();
        assertThat(ours()).hasSize(2);
        return both;
    }

    @Test
    @Tag("H75")
    void listLostTwice_isMeasuredBeforeTheThird_alsoWithoutAStateChangeBetween() {
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS, Code.CONNECTIONLOSS);
        AcquireLoop attempt = launched(Mode.QUEUE);
        scheduler.advance(Duration.ofSeconds(3));
        assertThat(operations.requests()).containsSubsequence(Request.LIST, Request.LIST, Request.ACL, Request.LIST);
        assertGranted(attempt);
    }
}
