// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static dev.zkrecipes.core.internal.acquire.AcquireFixture.OTHER;
import static dev.zkrecipes.core.internal.acquire.AcquireFixture.PATH;
import static dev.zkrecipes.core.internal.acquire.AcquireFixture.assertWaits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
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

/** Whom the view of a queue decides for, what is watched for them, and what that costs. */
class QueueViewTest {
    private static final String WRITER = "write-0000000000";

    private final AcquireFixture fixture = new AcquireFixture();
    private final ManualScheduler scheduler = fixture.scheduler;
    private final ScriptedOperations operations = fixture.operations;
    private final LockDriver mutex = new MutexDriver();

    private void release(AcquireLoop loop) {
        Grant.of(fixture.assertGranted(loop)).release();
        scheduler.run();
    }

    @Test
    void ofThoseServedInOrder_onlyTheFirstHasItsPredecessorsWatched() {
        operations.add(OTHER);
        fixture.queueing(mutex);
        assertThat(operations.requests())
                .containsExactly(Request.CREATE, Request.LIST, Request.WATCH_DELETION, Request.WATCH_DELETION);
        assertThat(operations.watchedForDeletion()).as("our own first").containsExactly(fixture.newest(), OTHER);
        for (int i = 0; i < 2; i++) {
            fixture.queueing(mutex);
            assertThat(operations.requests()).containsExactly(Request.CREATE, Request.LIST);
        }
        assertThat(operations.watchedForDeletion())
                .containsExactly(fixture.ours().get(0), OTHER);
    }

    @Test
    @Tag("H26")
    void ownNodesOfThoseNotNextInLine_areWatchedInAWhile() {
        operations.add(OTHER);
        fixture.queueing(mutex);
        fixture.queueing(mutex);
        AcquireLoop left = fixture.queueing(mutex);
        operations.requests();
        left.giveUp();
        scheduler.advance(fixture.timeout.dividedBy(6).minusMillis(1));
        assertThat(operations.requests()).containsExactly(Request.DELETE);
        scheduler.advance(fixture.timeout.dividedBy(6));
        assertThat(operations.requests()).contains(Request.WATCH_DELETION);
        assertThat(operations.watchedForDeletion()).contains(fixture.ours().get(1));
    }

    @Test
    void predecessorsOfTheNext_areWatchedWhenItIsFirst() {
        operations.add(OTHER);
        AcquireLoop first = fixture.queueing(mutex);
        operations.add("lock-0000000050");
        operations.count(50);
        AcquireLoop second = fixture.queueing(mutex);
        String ofFirst = fixture.ours().get(0);
        operations.remove(OTHER);
        scheduler.run();
        fixture.assertGranted(first);
        assertThat(operations.watchedForDeletion())
                .as("what the one in front of it waits for")
                .containsExactly(ofFirst);
        release(first);
        assertWaits(second);
        assertThat(operations.watchedForDeletion())
                .as("its own node is watched when it is next in line")
                .containsExactly(fixture.newest(), "lock-0000000050");
        operations.remove("lock-0000000050");
        scheduler.run();
        fixture.assertGranted(second);
    }

    @Test
    void nextInOrder_takesOverTheWatchOnTheNewHolder() {
        operations.add(OTHER);
        AcquireLoop first = fixture.queueing(mutex);
        AcquireLoop second = fixture.queueing(mutex);
        List<String> ours = fixture.ours();
        operations.requests();
        operations.remove(OTHER);
        scheduler.run();
        assertWaits(second);
        assertThat(operations.requests()).as("of the next in line").containsExactly(Request.WATCH_DELETION);
        assertThat(operations.watchedForDeletion()).containsExactlyElementsOf(ours);
        assertThat(operations.dropped()).isEmpty();
        release(first);
        fixture.assertGranted(second);
        assertThat(operations.requests()).as("of the release").containsExactly(Request.DELETE);
        assertThat(operations.dropped()).as("by the second, granted").isEmpty();
        fixture.assertNobodyWaits();
    }

    @Test
    @Tag("H29")
    void nextInOrder_takesOverTheWatchesOfAnAbandonedRequest() {
        operations.add(WRITER);
        AcquireLoop first = fixture.queueing(ModeDriver.SHARED);
        AcquireLoop second = fixture.queueing(ModeDriver.SHARED);
        operations.requests();
        first.giveUp();
        scheduler.run();
        assertThat(operations.requests()).containsExactlyInAnyOrder(Request.DELETE, Request.WATCH_DELETION);
        assertThat(operations.dropped()).isEmpty();
        assertThat(operations.watchedForDeletion()).containsExactly(WRITER, fixture.newest());
        operations.remove(WRITER);
        scheduler.run();
        fixture.assertGranted(second);
    }

    @Test
    void givingUpBetweenOthers_disturbsNobody() {
        operations.add(OTHER);
        AcquireLoop first = fixture.queueing(mutex);
        AcquireLoop second = fixture.queueing(mutex);
        AcquireLoop third = fixture.queueing(mutex);
        second.giveUp();
        scheduler.run();
        operations.remove(OTHER);
        scheduler.run();
        assertWaits(third);
        release(first);
        fixture.assertGranted(third);
        fixture.assertNobodyWaits();
    }

    @Test
    void firstGivingUp_letsInTheNext() {
        AcquireLoop holder = fixture.queueing(ModeDriver.SHARED);
        AcquireLoop writer = fixture.queueing(ModeDriver.EXCLUSIVE);
        AcquireLoop reader = fixture.queueing(ModeDriver.SHARED);
        assertWaits(writer);
        assertWaits(reader);
        writer.giveUp();
        scheduler.run();
        fixture.assertGranted(holder);
        fixture.assertGranted(reader);
        fixture.assertNobodyWaits();
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
        AcquireLoop first = fixture.queueing(new KindDriver("a-"));
        AcquireLoop second = fixture.queueing(new KindDriver("b-"));
        AcquireLoop third = fixture.queueing(new KindDriver("b-"));
        operations.requests();
        operations.remove("b-0000000000");
        scheduler.run();
        assertWaits(first);
        assertWaits(third);
        release(second);
        fixture.assertGranted(third);
        assertWaits(first);
        operations.remove("a-0000000000");
        scheduler.run();
        fixture.assertGranted(first);
        assertThat(operations.requests()).containsExactly(Request.DELETE);
        fixture.assertNobodyWaits();
    }

    @Test
    @Tag("H82")
    void fiveHundredReadersLetInLate_areProvenByOneWrite() {
        operations.add(WRITER);
        List<AcquireLoop> readers = fixture.launchedTogether(500, ModeDriver.SHARED);
        scheduler.advance(fixture.timeout.multipliedBy(3).dividedBy(4));
        assertThat(operations.watchedForDeletion()).hasSize(501);
        operations.requests();
        operations.remove(WRITER);
        scheduler.run();
        readers.forEach(fixture::assertGranted);
        assertThat(operations.requests()).containsExactly(Request.MULTI);
        fixture.assertNobodyWaits();
    }

    @Test
    @Tag("H82")
    void readersLetInSoon_needOneListAndNoWrite_andNoDeepStackHoweverMany() {
        operations.add(WRITER);
        List<AcquireLoop> readers = fixture.launchedTogether(3000, ModeDriver.SHARED);
        scheduler.advance(fixture.timeout.dividedBy(6).minusMillis(1));
        operations.requests();
        operations.remove(WRITER);
        scheduler.run();
        readers.forEach(fixture::assertGranted);
        assertThat(operations.requests())
                .as("only the first one's own node was watched")
                .containsExactly(Request.LIST);
    }

    @Test
    void driversOfOnePath_shareWhatIsKnownToBeGone() {
        operations.add(WRITER);
        AcquireLoop reader = fixture.queueing(ModeDriver.SHARED);
        AcquireLoop writer = fixture.queueing(ModeDriver.EXCLUSIVE);
        AcquireLoop late = fixture.queueing(ModeDriver.SHARED);
        operations.requests();
        operations.remove(WRITER);
        scheduler.run();
        fixture.assertGranted(reader);
        assertWaits(writer);
        assertWaits(late);
        release(reader);
        fixture.assertGranted(writer);
        assertWaits(late);
        release(writer);
        fixture.assertGranted(late);
        assertThat(operations.requests())
                .as("of each that is next in line, and its predecessor's end")
                .containsExactly(Request.WATCH_DELETION, Request.DELETE, Request.WATCH_DELETION, Request.DELETE);
        fixture.assertNobodyWaits();
    }

    @Test
    void newList_neitherBringsBackDeletedNodesNorForgetsWaiters() {
        operations.add(OTHER);
        operations.add("lock-0000000001");
        operations.count(1);
        AcquireLoop first = fixture.queueing(mutex);
        operations.remove(OTHER);
        AcquireLoop second = fixture.queueing(mutex);
        operations.remove("lock-0000000001");
        scheduler.run();
        release(first);
        release(second);
        fixture.assertLeftNothing();
    }

    @Test
    @Tag("H05")
    void grantWithNobodyElseBelowThePath_knowsIt() {
        operations.add(OTHER);
        operations.count(OwnNode.OLD);
        AcquireLoop alone = fixture.queueing(mutex);
        operations.remove(OTHER);
        scheduler.run();
        assertThat(fixture.assertGranted(alone).node().leavesOldCounter()).isTrue();
    }

    @Test
    @Tag("H05")
    void grantByANewListWithNobodyElse_knowsIt() {
        operations.add(OTHER);
        operations.count(OwnNode.OLD);
        AcquireLoop alone = fixture.queueing(mutex);
        fixture.reconnect();
        operations.remove(OTHER);
        scheduler.run();
        assertThat(fixture.assertGranted(alone).node().leavesOldCounter()).isTrue();
    }

    @Test
    @Tag("H05")
    void grantInFrontOfOthers_knowsOfThem() {
        operations.add(OTHER);
        operations.count(OwnNode.OLD);
        AcquireLoop first = fixture.queueing(mutex);
        fixture.queueing(mutex);
        operations.remove(OTHER);
        scheduler.run();
        assertThat(fixture.assertGranted(first).node().leavesOldCounter()).isFalse();
    }

    @Test
    void unwatchablePredecessor_failsTheFirstByName_andTheNextAsksForItself() {
        operations.add(WRITER);
        operations.refuse(Request.WATCH_DELETION, Code.OK, Code.NOAUTH);
        AcquireLoop first = fixture.launched(Mode.QUEUE, ModeDriver.SHARED, LockOptions.defaults());
        AcquireLoop second = fixture.launched(Mode.QUEUE, ModeDriver.SHARED, LockOptions.defaults());
        scheduler.run();
        assertWaits(second);
        assertThat(operations.watchedForDeletion()).containsExactlyInAnyOrder(WRITER, fixture.newest());
        second.giveUp();
        fixture.assertFailed(first, LockAccessException.class, "watch " + PATH + "/" + WRITER);
    }

    @Test
    @Tag("H97")
    void failingLaterWatch_failsItsRequest() {
        operations.add(OTHER);
        operations.add("lock-0000000001");
        operations.count(1);
        AcquireLoop loop = fixture.queueing(mutex);
        operations.breakOn(Request.WATCH_DELETION); // the one on its own node, when what it waited for is gone
        operations.remove(OTHER);
        scheduler.run();
        fixture.assertFailed(loop, LockException.class, "the lock engine failed on ");
    }

    @Test
    @Tag("H97")
    void failingWatchInAWhile_failsItsRequest() {
        operations.add(OTHER);
        AcquireLoop first = fixture.queueing(mutex);
        AcquireLoop second = fixture.queueing(mutex);
        operations.breakOn(Request.WATCH_DELETION);
        scheduler.advance(fixture.timeout.dividedBy(6));
        assertThat(first.outcome()).isNotDone();
        first.giveUp();
        scheduler.run();
        fixture.assertFailed(second, LockException.class, "the lock engine failed on ");
    }

    @Test
    @Tag("H42")
    void viewNobodyWaitsIn_isDropped() {
        operations.add(OTHER);
        List<AcquireLoop> loops = new ArrayList<>();
        for (LockDriver driver : List.of(mutex, new TestDriver("lock-"), mutex)) {
            loops.add(fixture.queueing(driver));
        }
        assertThat(fixture.engine.requests()).extracting("queues", MAP).isNotEmpty();
        loops.forEach(AcquireLoop::giveUp);
        scheduler.run();
        fixture.assertLeftNothing();
        assertThat(operations.dropped()).containsExactly(OTHER); // those of our own nodes went with the nodes
    }

    @Test
    void endOfASession_removesItsViews() {
        operations.add(OTHER);
        AcquireLoop first = fixture.queueing(mutex);
        AcquireLoop second = fixture.queueing(mutex);
        fixture.become(State.EXPIRED);
        scheduler.advance(Duration.ofSeconds(1));
        assertWaits(first);
        assertWaits(second);
        operations.remove(OTHER);
        scheduler.run();
        release(first);
        release(second);
        fixture.assertNobodyWaits();
    }
}
