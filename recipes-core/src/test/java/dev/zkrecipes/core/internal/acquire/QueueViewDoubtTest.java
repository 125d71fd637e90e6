// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.LockNodeDriver;
import dev.zkrecipes.core.internal.ModeDriver;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the view of a queue grants on an event alone, and what only on a new list. */
class QueueViewDoubtTest extends AcquireFixture {

    private static List<LockDriver> drivers() {
        return List.of(new MutexDriver(), new TestDriver("lock-"));
    }

    private AcquireLoop waiting(LockDriver driver) {
        operations.add(OTHER);
        AcquireLoop loop = queueing(driver);
        assertWaits(loop);
        operations.requests();
        return loop;
    }

    @ParameterizedTest
    @MethodSource("drivers")
    @Tag("H25")
    void eventAfterAReconnect_grantsOnlyByAList(LockDriver driver) {
        AcquireLoop loop = waiting(driver);
        reconnect();
        assertThat(operations.requests()).as("a reconnect alone costs nothing").isEmpty();
        operations.remove(OTHER);
        scheduler.run();
        assertThat(operations.requests()).containsExactly(Request.MULTI, Request.LIST);
        assertGranted(loop);
    }

    @ParameterizedTest
    @MethodSource("drivers")
    @Tag("H25")
    void eventWithoutAConnection_grantsOnlyByAListOnTheNext(LockDriver driver) {
        AcquireLoop loop = waiting(driver);
        become(State.DISCONNECTED);
        operations.remove(OTHER);
        scheduler.advance(Duration.ofSeconds(5));
        assertThat(loop.outcome()).isNotDone();
        assertThat(operations.requests()).isEmpty();
        become(State.CONNECTED);
        scheduler.run();
        assertThat(operations.requests()).containsExactly(Request.MULTI, Request.LIST);
        assertGranted(loop);
    }

    @ParameterizedTest
    @MethodSource("drivers")
    void listAfterAReconnect_makesEventsCertainAgain_forAllWaiters(LockDriver driver) {
        AcquireLoop first = waiting(driver);
        AcquireLoop second = queueing(driver);
        reconnect();
        operations.remove(OTHER);
        scheduler.run();
        operations.requests();
        Grant.of(assertGranted(first)).release();
        scheduler.run();
        assertGranted(second);
        assertThat(operations.requests()).containsExactly(Request.DELETE);
    }

    @ParameterizedTest
    @MethodSource("drivers")
    @Tag("H26")
    void ownNodeDeletedAndThenThePredecessor_isNeverGrantedOn(LockDriver driver) {
        AcquireLoop loop = waiting(driver);
        String lost = newest();
        operations.remove(lost);
        operations.remove(OTHER);
        scheduler.run();
        assertGrantedOnAnother(loop, lost);
    }

    @ParameterizedTest
    @MethodSource("drivers")
    @Tag("H26")
    void deletedOwnNode_isNeverGranted_evenIfAReconnectReversesTheEvents(LockDriver driver) {
        AcquireLoop loop = waiting(driver);
        String lost = newest();
        become(State.DISCONNECTED);
        operations.removeUntold(lost);
        operations.removeUntold(OTHER);
        become(State.CONNECTED);
        operations.tellRemoved(OTHER);
        operations.tellRemoved(lost);
        scheduler.run();
        assertGrantedOnAnother(loop, lost);
    }

    @ParameterizedTest
    @MethodSource("drivers")
    @Tag("H26")
    void ownNodeMissingFromTheList_isGone_beforeItsWatchTells(LockDriver driver) {
        AcquireLoop loop = waiting(driver);
        String lost = newest();
        become(State.DISCONNECTED);
        operations.removeUntold(lost);
        operations.removeUntold(OTHER);
        become(State.CONNECTED);
        operations.tellRemoved(OTHER);
        scheduler.run();
        assertThat(loop.outcome()).isNotDone();
        operations.tellRemoved(lost); // on a watch that is dropped by now
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(ours()).hasSize(1).doesNotContain(lost);
        assertGranted(loop);
    }

    @ParameterizedTest
    @MethodSource("drivers")
    @Tag("H26")
    void ownNodeNotYetWatched_isGrantedByTheAnswerThatItStands_withoutAList(LockDriver driver) {
        operations.add(OTHER);
        operations.delayAnswerOf(Request.WATCH_DELETION, Duration.ofSeconds(1)); // the first, on our own
        AcquireLoop loop = queueing(driver);
        operations.requests();
        operations.remove(OTHER);
        scheduler.run();
        assertThat(loop.outcome()).isNotDone();
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(operations.requests()).isEmpty();
        assertGranted(loop);
    }

    @ParameterizedTest
    @MethodSource("drivers")
    @Tag("H26")
    void answerThatOwnNodeStands_isLostWithTheConnection_andGrantsOnlyByAList(LockDriver driver) {
        operations.add(OTHER);
        operations.refuse(Request.WATCH_DELETION, Code.CONNECTIONLOSS);
        operations.delayAnswerOf(Request.WATCH_DELETION, Duration.ofSeconds(1));
        AcquireLoop loop = queueing(driver);
        operations.remove(OTHER);
        scheduler.run();
        assertThat(loop.outcome()).isNotDone();
        become(State.DISCONNECTED);
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(loop.outcome()).isNotDone();
        operations.requests();
        become(State.CONNECTED);
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(operations.requests()).contains(Request.LIST);
        assertGranted(loop);
    }

    @ParameterizedTest
    @MethodSource("drivers")
    @Tag("H26")
    void ownNodeFoundGoneWhenWatched_isNotGranted(LockDriver driver) {
        operations.add(OTHER);
        operations.refuse(Request.WATCH_DELETION, Code.NONODE);
        operations.delayAnswerOf(Request.WATCH_DELETION, Duration.ofSeconds(1));
        AcquireLoop loop = queueing(driver);
        String lost = newest();
        operations.removeUntold(lost);
        operations.remove(OTHER);
        scheduler.run();
        assertGrantedOnAnother(loop, lost);
    }

    @ParameterizedTest
    @MethodSource("drivers")
    @Tag("H26")
    void ownNodeWithALostWatch_isGrantedOnlyByAList(LockDriver driver) {
        operations.add(OTHER);
        operations.refuse(Request.WATCH_DELETION, Code.CONNECTIONLOSS);
        AcquireLoop loop = queueing(driver);
        operations.requests();
        operations.remove(OTHER);
        scheduler.run();
        assertThat(operations.requests()).containsExactly(Request.LIST);
        assertGranted(loop);
    }

    @ParameterizedTest
    @MethodSource("drivers")
    void unwatchedNodesInFront_areListedOnce(LockDriver driver) {
        operations.add(OTHER);
        AcquireLoop first = queueing(driver);
        List<String> between = List.of("lock-0000000050", "lock-0000000051", "lock-0000000052");
        between.forEach(operations::add);
        operations.count(52);
        AcquireLoop second = queueing(new MutexDriver());
        between.forEach(operations::remove);
        scheduler.run();
        operations.requests();
        operations.remove(OTHER);
        scheduler.run();
        Grant.of(assertGranted(first)).release();
        scheduler.run();
        assertThat(operations.requests())
                .filteredOn(request -> request == Request.LIST)
                .as("not one for each of them")
                .hasSizeLessThanOrEqualTo(1);
        assertGranted(second);
    }

    @Test
    void predecessorGoneBeforeItIsWatched_isNoticed() {
        operations.add(OTHER);
        operations.show(names -> {
            operations.remove(OTHER);
            return names;
        });
        AcquireLoop loop = queueing(new MutexDriver());
        assertGranted(loop);
        assertThat(operations.requests())
                .containsExactly(Request.CREATE, Request.LIST, Request.WATCH_DELETION, Request.WATCH_DELETION);
    }

    // ---- Predecessors of the same session: its end deletes all its nodes, in any order.

    private AcquireLoop behindOurOwn(LockDriver driver) {
        assertGranted(queueing(new MutexDriver()));
        AcquireLoop second = queueing(driver);
        assertWaits(second);
        operations.requests();
        return second;
    }

    @ParameterizedTest
    @MethodSource("drivers")
    @Tag("H01")
    void deletedNodeOfOurOwn_isNoGrant_beforeTheServerConfirmsItInThisSession(LockDriver driver) {
        AcquireLoop second = behindOurOwn(driver);
        operations.delayAnswerOf(Request.DELETE, Duration.ofSeconds(1)); // of the holder, who has lost it
        operations.remove(ours().get(0));
        scheduler.run();
        assertWaits(second);
        scheduler.advance(Duration.ofSeconds(1));
        assertGranted(second);
    }

    @ParameterizedTest
    @MethodSource("drivers")
    @Tag("H01")
    void nodesDeletedWithTheirSession_grantNobody(LockDriver driver) {
        AcquireLoop second = behindOurOwn(driver);
        String old = newest();
        operations.refuse(Request.DELETE, Code.SESSIONEXPIRED);
        List<String> ours = ours();
        ours.forEach(operations::removeUntold);
        operations.tellRemoved(ours.get(0));
        scheduler.run();
        assertThat(second.outcome()).isNotDone();
        become(State.EXPIRED);
        assertGrantedOnAnother(second, old);
    }

    // ---- Nodes that appear in front (law 3).

    private AcquireLoop behindAWriter(ModeDriver driver) {
        operations.add("write-0000000000");
        LockSpec spec = spec(driver).withNodesInFront("read-");
        AcquireLoop loop = launched(LockGroup.of(spec), Mode.QUEUE);
        scheduler.run();
        operations.requests();
        return loop;
    }

    @Test
    @Tag("H04")
    void writer_listsAgainBeforeAnEventGrantsIt() {
        AcquireLoop writer = behindAWriter(ModeDriver.EXCLUSIVE);
        operations.remove("write-0000000000");
        scheduler.run();
        assertThat(operations.requests()).containsExactly(Request.LIST);
        assertGranted(writer);
    }

    @Test
    @Tag("H04")
    void writer_waitsForANewReaderInFront() {
        AcquireLoop writer = behindAWriter(ModeDriver.EXCLUSIVE);
        operations.add("read-0000000000"); // the same holder's, in the shared mode
        operations.remove("write-0000000000");
        scheduler.run();
        assertWaits(writer);
        assertThat(operations.watchedForDeletion()).containsExactly(newest(), "read-0000000000");
        operations.remove("read-0000000000");
        scheduler.run();
        assertGranted(writer);
    }

    @Test
    @Tag("H04")
    void reader_needsNoListForANewReaderInFront() {
        AcquireLoop reader = behindAWriter(ModeDriver.SHARED);
        operations.add("read-0000000000");
        operations.remove("write-0000000000");
        scheduler.run();
        assertThat(operations.requests()).isEmpty();
        assertGranted(reader);
    }

    /** The node is not watched yet, and the list of another request is the first to show that it is gone. */
    @Test
    @Tag("H201")
    void writerOfSeveralLocks_whoseNodeIsGone_isNoFailure() {
        operations.count(5);
        operations.add("/locks/b", OTHER);
        LockSpec writer = spec(ModeDriver.EXCLUSIVE).withNodesInFront("read-");
        AcquireLoop both = launched(
                LockGroup.together(
                        List.of(writer, specAt("/locks/b", new MutexDriver(), LockOptions.defaults())),
                        LockOptions.defaults()),
                Mode.QUEUE);
        scheduler.run();
        assertWaits(both);
        String lost = ours().stream()
                .filter(name -> name.contains("write-"))
                .findFirst()
                .orElseThrow();
        operations.remove(lost);
        AcquireLoop other = launched(LockGroup.of(writer), Mode.QUEUE);
        scheduler.run();
        operations.remove(OTHER);
        scheduler.advance(Duration.ofSeconds(1));
        assertWaits(both);
        Grant.of(assertGranted(other)).release();
        scheduler.run();
        assertThat(LockPath.name(assertGranted(both).nodePath())).isNotEqualTo(lost);
    }

    // ---- Nodes that enter later than others of this client that stand behind them.

    private AcquireLoop settling() {
        operations.loseAnswerOf(Request.CREATE);
        return queueing(new MutexDriver());
    }

    @ParameterizedTest
    @MethodSource("drivers")
    @Tag("H21")
    void watchOfTheNextInLine_isNoProofForTheNodeItself(LockDriver driver) {
        operations.add(OTHER);
        scheduler.run();
        AcquireLoop late = settling();
        AcquireLoop behind = queueing(driver);
        AcquireLoop last = queueing(driver);
        scheduler.advance(Duration.ofSeconds(1));
        assertWaits(late);
        assertWaits(behind);
        operations.remove(OTHER);
        scheduler.run();
        Grant.of(assertGranted(late)).release();
        scheduler.run();
        Grant.of(assertGranted(behind)).release();
        scheduler.run();
        assertGranted(last);
        assertNobodyWaits();
    }

    @Test
    @Tag("H21")
    void adoptedNode_doesNotTakeTheOthersBackToItsList() {
        operations.add(OTHER);
        scheduler.run();
        AcquireLoop late = settling();
        AcquireLoop behind = queueing(new MutexDriver());
        operations.delayAnswerOf(Request.LIST, Duration.ofSeconds(3)); // the one that shows the late one's node
        scheduler.advance(Duration.ofSeconds(1));
        AcquireLoop meanwhile = queueing(new MutexDriver());
        scheduler.advance(Duration.ofSeconds(3));
        operations.remove(OTHER);
        for (AcquireLoop loop : List.of(late, behind, meanwhile)) {
            scheduler.run();
            Grant.of(assertGranted(loop)).release();
        }
        assertLeftNothing();
    }

    /** The driver does not say that it serves in order, so what is in front of the one in front is not looked at. */
    @Test
    @Tag("H26")
    void unwatchedOwnNode_deletedDuringTheProof_isNotGranted() {
        operations.add(OTHER);
        operations.add("lock-0000000001");
        operations.add("lock-0000000002");
        operations.count(10);
        scheduler.run();
        scheduler.advance(operations.sessionTimeout()); // so that a proof is soon not fresh any more
        LockNodeDriver nearest = (predecessors, self) -> Decision.grantedIfFirst(predecessors);
        AcquireLoop loop = queueing(nearest);
        String lost = newest();
        assertThat(operations.watchedForDeletion()).doesNotContain(lost);
        scheduler.advance(Duration.ofMillis(1200));
        operations.removeUntold(OTHER);
        operations.removeUntold("lock-0000000001");
        operations.delayAnswerOf(Request.LIST, Duration.ofMillis(100));
        operations.delayAnswerOf(Request.MULTI, Duration.ofMillis(50));
        operations.remove("lock-0000000002");
        scheduler.run();
        scheduler.advance(Duration.ofMillis(101));
        assertThat(loop.isIn(AcquireLoop.Step.PROVING)).isTrue();
        operations.remove(lost);
        assertGrantedOnAnother(loop, lost);
    }
}
