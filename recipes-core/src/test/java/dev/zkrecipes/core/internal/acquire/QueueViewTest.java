// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ModeDriver;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.clean.OwnNode;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whom the view of a queue decides for, what is watched for them, and what that costs. */
class QueueViewTest extends AcquireFixture {
    private static final String WRITER = "write-0000000000";

    private final LockDriver mutex = new MutexDriver();

    private void release(AcquireLoop loop) {
        Grant.of(assertGranted(loop)).release();
        scheduler.run();
    }

    @Test
    void ofThoseServedInOrder_onlyTheFirstHasItsPredecessorsWatched() {
        operations.add(OTHER);
        queueing(mutex);
        assertThat(operations.requests())
                .containsExactly(Request.CREATE, Request.LIST, Request.WATCH_DELETION, Request.WATCH_DELETION);
        assertThat(operations.watchedForDeletion()).as("our own first").containsExactly(newest(), OTHER);
        for (int i = 0; i < 2; i++) {
            queueing(mutex);
            assertThat(operations.requests()).containsExactly(Request.CREATE, Request.LIST);
        }
        assertThat(operations.watchedForDeletion()).containsExactly(ours().get(0), OTHER);
    }

    @Test
    @Tag("H26")
    void ownNodesOfThoseNotNextInLine_areWatchedInAWhile() {
        operations.add(OTHER);
        queueing(mutex);
        queueing(mutex);
        AcquireLoop left = queueing(mutex);
        operations.requests();
        left.giveUp();
        scheduler.advance(timeout.dividedBy(6).minusMillis(1));
        assertThat(operations.requests()).containsExactly(Request.DELETE);
        scheduler.advance(timeout.dividedBy(6));
        assertThat(operations.requests()).contains(Request.WATCH_DELETION);
        assertThat(operations.watchedForDeletion()).contains(ours().get(1));
    }

    @Test
    void predecessorsOfTheNext_areWatchedWhenItIsFirst() {
        operations.add(OTHER);
        AcquireLoop first = queueing(mutex);
        operations.add("lock-0000000050");
        operations.count(50);
        AcquireLoop second = queueing(mutex);
        String ofFirst = ours().get(0);
        operations.remove(OTHER);
        scheduler.run();
        assertGranted(first);
        assertThat(operations.watchedForDeletion())
                .as("what the one in front of it waits for")
                .containsExactly(ofFirst);
        release(first);
        assertWaits(second);
        assertThat(operations.watchedForDeletion())
                .as("its own node is watched when it is next in line")
                .containsExactly(newest(), "lock-0000000050");
        operations.remove("lock-0000000050");
        scheduler.run();
        assertGranted(second);
    }

    @Test
    void nextInOrder_takesOverTheWatchOnTheNewHolder() {
        operations.add(OTHER);
        AcquireLoop first = queueing(mutex);
        AcquireLoop second = queueing(mutex);
        List<String> ours = ours();
        operations.requests();
        operations.remove(OTHER);
        scheduler.run();
        assertWaits(second);
        assertThat(operations.requests()).as("of the next in line").containsExactly(Request.WATCH_DELETION);
        assertThat(operations.watchedForDeletion()).containsExactlyElementsOf(ours);
        assertThat(operations.dropped()).isEmpty();
        release(first);
        assertGranted(second);
        assertThat(operations.requests()).as("of the release").containsExactly(Request.DELETE);
        assertThat(operations.dropped()).as("by the second, granted").isEmpty();
        assertNobodyWaits();
    }

    @Test
    @Tag("H29")
    void nextInOrder_takesOverTheWatchesOfAnAbandonedRequest() {
        operations.add(WRITER);
        AcquireLoop first = queueing(ModeDriver.SHARED);
        AcquireLoop second = queueing(ModeDriver.SHARED);
        operations.requests();
        first.giveUp();
        scheduler.run();
        assertThat(operations.requests()).containsExactlyInAnyOrder(Request.DELETE, Request.WATCH_DELETION);
        assertThat(operations.dropped()).isEmpty();
        assertThat(operations.watchedForDeletion()).containsExactly(WRITER, newest());
        operations.remove(WRITER);
        scheduler.run();
        assertGranted(second);
    }

    @Test
    void givingUpBetweenOthers_disturbsNobody() {
        operations.add(OTHER);
        AcquireLoop first = queueing(mutex);
        AcquireLoop second = queueing(mutex);
        AcquireLoop third = queueing(mutex);
        second.giveUp();
        scheduler.run();
        operations.remove(OTHER);
        scheduler.run();
        assertWaits(third);
        release(first);
        assertGranted(third);
        assertNobodyWaits();
    }

    @Test
    void firstGivingUp_letsInTheNext() {
        AcquireLoop holder = queueing(ModeDriver.SHARED);
        AcquireLoop writer = queueing(ModeDriver.EXCLUSIVE);
        AcquireLoop reader = queueing(ModeDriver.SHARED);
        assertWaits(writer);
        assertWaits(reader);
        writer.giveUp();
        scheduler.run();
        assertGranted(holder);
        assertGranted(reader);
        assertNobodyWaits();
    }

    /** Who waits for nodes of his own kind only. */
    private record KindDriver(String nodeName) implements LockDriver {
        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parse(childName, "a-").or(() -> LockNode.parse(childName, "b-"));
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            List<LockNode> same = predecessors.stream()
                    .filter(node -> node.kind().equals(self.kind()))
                    .toList();
            return same.isEmpty() ? Decision.granted() : Decision.waitFor(same);
        }
    }

    @Test
    void thoseNotServedInOrder_areEachToldByTheirOwnPredecessors() {
        operations.add("a-0000000000");
        operations.add("b-0000000000");
        AcquireLoop first = queueing(new KindDriver("a-"));
        AcquireLoop second = queueing(new KindDriver("b-"));
        AcquireLoop third = queueing(new KindDriver("b-"));
        operations.requests();
        operations.remove("b-0000000000");
        scheduler.run();
        assertWaits(first);
        assertWaits(third);
        release(second);
        assertGranted(third);
        assertWaits(first);
        operations.remove("a-0000000000");
        scheduler.run();
        assertGranted(first);
        assertThat(operations.requests()).containsExactly(Request.DELETE);
        assertNobodyWaits();
    }

    @Test
    @Tag("H82")
    void fiveHundredReadersLetInLate_areProvenByOneWrite() {
        operations.add(WRITER);
        List<AcquireLoop> readers = launchedTogether(500, ModeDriver.SHARED);
        scheduler.advance(timeout.multipliedBy(3).dividedBy(4));
        assertThat(operations.watchedForDeletion()).hasSize(501);
        operations.requests();
        operations.remove(WRITER);
        scheduler.run();
        readers.forEach(this::assertGranted);
        assertThat(operations.requests()).containsExactly(Request.MULTI);
        assertNobodyWaits();
    }

    @Test
    @Tag("H82")
    void readersLetInSoon_needOneListAndNoWrite_andNoDeepStackHoweverMany() {
        operations.add(WRITER);
        List<AcquireLoop> readers = launchedTogether(3000, ModeDriver.SHARED);
        scheduler.advance(timeout.dividedBy(6).minusMillis(1));
        operations.requests();
        operations.remove(WRITER);
        scheduler.run();
        readers.forEach(this::assertGranted);
        assertThat(operations.requests())
                .as("only the first one's own node was watched")
                .containsExactly(Request.LIST);
    }

    @Test
    void driversOfOnePath_shareWhatIsKnownToBeGone() {
        operations.add(WRITER);
        AcquireLoop reader = queueing(ModeDriver.SHARED);
        AcquireLoop writer = queueing(ModeDriver.EXCLUSIVE);
        AcquireLoop late = queueing(ModeDriver.SHARED);
        operations.requests();
        operations.remove(WRITER);
        scheduler.run();
        assertGranted(reader);
        assertWaits(writer);
        assertWaits(late);
        release(reader);
        assertGranted(writer);
        assertWaits(late);
        release(writer);
        assertGranted(late);
        assertThat(operations.requests())
                .as("of each that is next in line, and its predecessor's end")
                .containsExactly(Request.WATCH_DELETION, Request.DELETE, Request.WATCH_DELETION, Request.DELETE);
        assertNobodyWaits();
    }

    @Test
    void newList_neitherBringsBackDeletedNodesNorForgetsWaiters() {
        operations.add(OTHER);
        operations.add("lock-0000000001");
        operations.count(1);
        AcquireLoop first = queueing(mutex);
        operations.remove(OTHER);
        AcquireLoop second = queueing(mutex);
        operations.remove("lock-0000000001");
        scheduler.run();
        release(first);
        release(second);
        assertLeftNothing();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("H05")
    void grantWithNobodyElseBelowThePath_knowsIt(boolean isByANewList) {
        operations.add(OTHER);
        operations.count(OwnNode.OLD);
        AcquireLoop alone = queueing(mutex);
        if (isByANewList) {
            reconnect();
        }
        operations.remove(OTHER);
        scheduler.run();
        assertThat(assertGranted(alone).node().leavesOldCounter()).isTrue();
    }

    @Test
    @Tag("H05")
    void grantInFrontOfOthers_knowsOfThem() {
        operations.add(OTHER);
        operations.count(OwnNode.OLD);
        AcquireLoop first = queueing(mutex);
        queueing(mutex);
        operations.remove(OTHER);
        scheduler.run();
        assertThat(assertGranted(first).node().leavesOldCounter()).isFalse();
    }

    @Test
    void unwatchablePredecessor_failsTheFirstByName_andTheNextAsksForItself() {
        operations.add(WRITER);
        operations.refuse(Request.WATCH_DELETION, Code.OK, Code.NOAUTH);
        AcquireLoop first = launched(Mode.QUEUE, ModeDriver.SHARED, LockOptions.defaults());
        AcquireLoop second = launched(Mode.QUEUE, ModeDriver.SHARED, LockOptions.defaults());
        scheduler.run();
        assertWaits(second);
        assertThat(operations.watchedForDeletion()).containsExactlyInAnyOrder(WRITER, newest());
        second.giveUp();
        assertFailed(first, LockAccessException.class, "watch " + PATH + "/" + WRITER);
    }

    @Test
    @Tag("H97")
    void failingLaterWatch_failsItsRequest() {
        operations.add(OTHER);
        operations.add("lock-0000000001");
        operations.count(1);
        AcquireLoop loop = queueing(mutex);
        operations.breakOn(Request.WATCH_DELETION); // the one on its own node, when what it waited for is gone
        operations.remove(OTHER);
        scheduler.run();
        assertFailed(loop, LockException.class, "the lock engine failed on ");
    }

    @Test
    @Tag("H97")
    void failingWatchInAWhile_failsItsRequest() {
        operations.add(OTHER);
        AcquireLoop first = queueing(mutex);
        AcquireLoop second = queueing(mutex);
        operations.breakOn(Request.WATCH_DELETION);
        scheduler.advance(timeout.dividedBy(6));
        assertThat(first.outcome()).isNotDone();
        first.giveUp();
        scheduler.run();
        assertFailed(second, LockException.class, "the lock engine failed on ");
    }

    @Test
    @Tag("H42")
    void viewNobodyWaitsIn_isDropped() {
        operations.add(OTHER);
        List<AcquireLoop> loops = new ArrayList<>();
        for (LockDriver driver : List.of(mutex, new TestDriver("lock-"), mutex)) {
            loops.add(queueing(driver));
        }
        assertThat(engine.requests()).extracting("queues", MAP).isNotEmpty();
        loops.forEach(AcquireLoop::giveUp);
        scheduler.run();
        assertLeftNothing();
        assertThat(operations.dropped()).containsExactly(OTHER); // those of our own nodes went with the nodes
    }

    @Test
    void endOfASession_removesItsViews() {
        operations.add(OTHER);
        AcquireLoop first = queueing(mutex);
        AcquireLoop second = queueing(mutex);
        become(State.EXPIRED);
        scheduler.advance(Duration.ofSeconds(1));
        assertWaits(first);
        assertWaits(second);
        operations.remove(OTHER);
        scheduler.run();
        release(first);
        release(second);
        assertNobodyWaits();
    }
}
