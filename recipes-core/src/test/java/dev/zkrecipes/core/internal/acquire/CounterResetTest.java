// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.clean.OwnNode;
import dev.zkrecipes.core.spi.MutexDriver;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a request gets whose number is too near the end of its path's counter. */
@Tag("H05")
class CounterResetTest extends AcquireFixture {
    private static final String OTHER = AcquireFixture.OTHER;
    private static final Request[] RESET = {Request.READ, Request.ACL, Request.MULTI};

    /** A request that has sent nothing yet, and will get the first number that is not granted. */
    private AcquireLoop newcomer(Mode mode, QueueLossPolicy policy) {
        AcquireLoop loop =
                launched(mode, new TestDriver("lock-"), LockOptions.defaults().withQueueLossPolicy(policy));
        operations.count(OwnNode.WORN_OUT - 1);
        return loop;
    }

    private AcquireLoop newcomer() {
        return newcomer(Mode.QUEUE, QueueLossPolicy.REQUEUE);
    }

    private void assertResetFor(AcquireLoop loop) {
        String granted = assertGranted(loop).nodePath();
        assertThat(OwnNode.numberOf(granted)).isLessThan(OwnNode.OLD);
        assertThat(operations.nodes()).hasSize(1);
    }

    @Test
    void lastUsableNumber_isGranted() {
        AcquireLoop loop = newcomer();
        operations.count(OwnNode.WORN_OUT - 2);
        scheduler.run();
        assertThat(OwnNode.numberOf(assertGranted(loop).nodePath())).isEqualTo(OwnNode.WORN_OUT - 1);
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void nobodyElse_isGrantedAfterAReset(Mode mode) {
        AcquireLoop loop = newcomer(mode, QueueLossPolicy.REQUEUE);
        scheduler.run();
        assertResetFor(loop);
        List<Request> reset = List.of(
                Request.CREATE, Request.LIST, Request.READ, Request.ACL, Request.MULTI, Request.CREATE, Request.LIST);
        assertThat(operations.requests())
                .as("its own node is deleted by the multi")
                .endsWith(reset.toArray(Request[]::new));
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void newcomerBehindOthers_isRefused(Mode mode) {
        AcquireLoop loop = newcomer(mode, QueueLossPolicy.REQUEUE);
        operations.add("note-0000000001", OTHER); // below another path, so that the try sees nobody
        operations.show(names -> names.isEmpty() ? names : List.of(names.get(0), OTHER));
        scheduler.run();
        assertFailed(
                loop,
                LockLimitException.class,
                "is nearly used up, so new requests are refused. It is reset as soon as nobody holds the lock or waits"
                        + " for it. There are 1 other nodes, such as " + OTHER);
    }

    @Test
    void waiterThatCameInTime_isServed() {
        operations.add(OTHER);
        AcquireLoop waiting = newcomer();
        operations.count(OwnNode.WORN_OUT - 2);
        scheduler.run();
        AcquireLoop late = queueing();
        assertThat(late.outcome()).isCompletedExceptionally();
        AcquireFixture.assertWaits(waiting);
        operations.remove(OTHER);
        scheduler.run();
        assertGranted(waiting);
    }

    /** They see each other, but are not there for ever. */
    @Test
    void newcomersThatComeTogether_areRefused_andThePathIsReset() {
        scheduler.run();
        operations.count(OwnNode.WORN_OUT);
        List<AcquireLoop> loops = launchedTogether(200, new MutexDriver());
        operations.requests();
        scheduler.run();
        assertThat(loops).allMatch(loop -> loop.outcome().isCompletedExceptionally());
        assertThat(operations.requests().stream().filter(Request.MULTI::equals)).hasSize(1);
        assertLeftNothing();
        AcquireLoop next = queueing();
        assertResetFor(next);
        assertThat(operations.requests()).doesNotContain(Request.MULTI);
    }

    @Test
    void whoIsRefused_triesToResetThePath_whenItsNodeIsGone() {
        operations.add(OTHER);
        AcquireLoop loop = newcomer();
        scheduler.run();
        assertThat(loop.outcome()).isCompletedExceptionally();
        assertThat(operations.requests()).endsWith(Request.DELETE, Request.READ, Request.ACL, Request.MULTI);
    }

    @Test
    void nodeOfSomethingElse_isNamed() {
        operations.add("config");
        AcquireLoop loop = newcomer();
        scheduler.run();
        assertFailed(
                loop,
                LockLimitException.class,
                "cannot be reset: the node config lies below it: remove that node, or use another path");
    }

    @Test
    void pathThatMayNotBeDeleted_isNamed_withTheRightsThatAreMissing() {
        AcquireLoop loop = newcomer();
        operations.refuse(Request.MULTI, Code.NOAUTH);
        scheduler.run();
        assertFailed(
                loop,
                LockLimitException.class,
                "give it ADMIN rights on it, and CREATE and DELETE on /locks, or use another path");
    }

    /** Whoever wrote them down again would lock everybody out. */
    @Test
    void pathWhoseDigestsAreHidden_isNotMadeAgain() {
        AcquireLoop loop = newcomer();
        operations.recreatePath(List.of(new ACL(ZooDefs.Perms.ALL, new Id("digest", "alice:x"))));
        operations.count(OwnNode.WORN_OUT);
        scheduler.run();
        assertFailed(loop, LockLimitException.class, "this client may not recreate it");
        assertThat(operations.requests()).doesNotContain(Request.MULTI);
    }

    /** It would be made again without its data. */
    @Test
    void pathWithTooMuchData_isNotMadeAgain() {
        AcquireLoop loop = newcomer();
        operations.refuse(Request.READ, Code.MARSHALLINGERROR, Code.MARSHALLINGERROR);
        scheduler.run();
        assertFailed(loop, LockLimitException.class, "raise jute.maxbuffer");
        assertThat(operations.requests()).doesNotContain(Request.MULTI);
    }

    @Test
    void somebodyWhoComesMeanwhile_isNotHarmed() {
        AcquireLoop loop = newcomer();
        operations.refuse(Request.MULTI, Code.NOTEMPTY, Code.NOTEMPTY);
        scheduler.run();
        assertFailed(loop, LockLimitException.class, "Another request has just come");
    }

    @Test
    void ruleThatChangesMeanwhile_isReadAgain() {
        AcquireLoop loop = newcomer();
        operations.refuse(Request.MULTI, Code.BADVERSION);
        scheduler.run();
        assertResetFor(loop);
        assertThat(operations.requests())
                .containsSubsequence(RESET)
                .containsSubsequence(Request.MULTI, Request.LIST, Request.READ, Request.ACL, Request.MULTI);
    }

    @ParameterizedTest
    @EnumSource(QueueLossPolicy.class)
    void ownNodeThatSomebodyDeletesMeanwhile_isALostPlace(QueueLossPolicy policy) {
        AcquireLoop loop = newcomer(Mode.QUEUE, policy);
        operations.delayAnswerOf(Request.ACL, timeout.dividedBy(100));
        scheduler.run();
        operations.remove(newest());
        scheduler.advance(timeout.dividedBy(2));
        if (policy == QueueLossPolicy.FAIL) {
            assertFailed(loop, QueuePlaceLostException.class, "was deleted by somebody else");
        } else {
            assertResetFor(loop);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Request.class,
            names = {"READ", "ACL", "MULTI"})
    void lostRequest_isRepeated_withANewNode(Request lost) {
        AcquireLoop loop = newcomer();
        operations.refuse(lost, Code.CONNECTIONLOSS);
        scheduler.run();
        assertThat(loop.outcome()).isNotDone();
        scheduler.advance(timeout);
        assertResetFor(loop);
    }

    /** Nobody but this request has deleted its node, so it has lost nothing. */
    @ParameterizedTest
    @EnumSource(QueueLossPolicy.class)
    void lostAnswer_isNoLostPlace(QueueLossPolicy policy) {
        AcquireLoop loop = newcomer(Mode.QUEUE, policy);
        operations.loseAnswerOf(Request.MULTI);
        scheduler.run();
        assertThat(loop.outcome()).isNotDone();
        scheduler.advance(timeout);
        assertResetFor(loop);
    }

    @Test
    void tryWhoseAnswerIsLost_fails_andLeavesNothing() {
        AcquireLoop loop = newcomer(Mode.TRY, QueueLossPolicy.REQUEUE);
        operations.loseAnswerOf(Request.MULTI);
        scheduler.run();
        assertFailed(loop, LockConnectionException.class, "while trying for the lock");
    }

    @Test
    void requestThatGivesUpMeanwhile_leavesNothing() {
        AcquireLoop loop = newcomer();
        operations.delayAnswerOf(Request.MULTI, timeout.dividedBy(100));
        scheduler.run();
        loop.giveUp();
        scheduler.run();
        assertThatThrownBy(loop.outcome()::join).isInstanceOf(CancellationException.class);
        assertLeftNothing();
    }

    @Test
    void severalPaths_areResetOneAfterTheOther() {
        AcquireLoop loop = launched(together(LockOptions.defaults(), "/locks/a", "/locks/b"), Mode.QUEUE);
        operations.count(OwnNode.WORN_OUT);
        scheduler.run();
        assertGranted(loop);
        assertThat(operations.nodes()).hasSize(2);
        assertThat(operations.requests()).containsSubsequence(RESET);
    }
}
