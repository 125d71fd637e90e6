// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.ModeDriver;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who stands behind somebody who waits prepares for its turn while that one holds, so that an event alone grants it. */
class QueueViewDepthTest extends AcquireFixture {
    private static final String SECOND = "lock-0000000001";
    private static final String THIRD = "lock-0000000002";

    private AcquireLoop behind(LockDriver driver, String... inFront) {
        List.of(inFront).forEach(operations::add);
        operations.count(10);
        AcquireLoop loop = queueing(driver);
        assertWaits(loop);
        return loop;
    }

    private AcquireLoop behind(String... inFront) {
        AcquireLoop loop = behind(new MutexDriver(), inFront);
        assertThat(operations.requests()).containsExactly(Request.CREATE, Request.LIST, Request.WATCH_DELETION);
        return loop;
    }

    private void gone(String... names) {
        List.of(names).forEach(operations::remove);
        scheduler.run();
    }

    private void assertSent(Request... expected) {
        assertThat(operations.requests()).containsExactly(expected);
    }

    @Test
    void behindTwo_eachEndIsToldByAnEvent_andNothingIsListed() {
        AcquireLoop loop = behind(OTHER, SECOND);
        assertThat(operations.watchedForDeletion()).containsExactly(OTHER);
        gone(OTHER);
        assertWaits(loop);
        assertSent(Request.WATCH_DELETION, Request.WATCH_DELETION);
        assertThat(operations.watchedForDeletion()).as("our own first").containsExactly(newest(), SECOND);
        gone(SECOND);
        assertSent();
        assertGranted(loop);
        assertNobodyWaits();
    }

    @Test
    void behindMore_theListIsTakenWhileTheOneInFrontHolds() {
        AcquireLoop loop = behind(OTHER, SECOND, THIRD);
        assertThat(operations.watchedForDeletion()).containsExactly(SECOND);
        gone(OTHER);
        assertSent();
        gone(SECOND);
        assertWaits(loop);
        assertSent(Request.WATCH_DELETION, Request.WATCH_DELETION, Request.LIST);
        assertThat(operations.watchedForDeletion()).as("our own first").containsExactly(newest(), THIRD);
        gone(THIRD);
        assertSent();
        assertGranted(loop);
        assertNobodyWaits();
    }

    @Test
    void twoSimultaneousDeletions_areBothNoticed() {
        AcquireLoop loop = behind(OTHER, SECOND);
        gone(OTHER, SECOND);
        assertSent(Request.WATCH_DELETION, Request.WATCH_DELETION);
        assertGranted(loop);
        assertNobodyWaits();
    }

    @Test
    void threeSimultaneousDeletions_areSeenByOneList() {
        AcquireLoop loop = behind(OTHER, SECOND, THIRD);
        gone(OTHER, SECOND, THIRD);
        assertSent(Request.WATCH_DELETION, Request.WATCH_DELETION, Request.LIST);
        assertGranted(loop);
        assertNobodyWaits();
    }

    @Test
    void endOfTheOneInFront_whileTheListIsUnderWay_isSeenByThatList() {
        AcquireLoop loop = behind(OTHER, SECOND, THIRD);
        operations.show(names -> {
            operations.remove(THIRD); // after it was watched, and told before the list is
            return names.stream().filter(name -> !name.equals(THIRD)).toList();
        });
        gone(OTHER, SECOND);
        assertSent(Request.WATCH_DELETION, Request.WATCH_DELETION, Request.LIST);
        assertGranted(loop);
        assertNobodyWaits();
    }

    @Test
    void waiterGivingUpInTheMiddle_costsOneStepMore() {
        AcquireLoop loop = behind(OTHER, SECOND, THIRD);
        gone(SECOND);
        assertWaits(loop);
        assertSent(Request.WATCH_DELETION, Request.WATCH_DELETION, Request.LIST, Request.WATCH_DELETION);
        assertThat(operations.watchedForDeletion()).containsExactly(newest(), OTHER);
        gone(OTHER);
        assertWaits(loop);
        assertSent(Request.WATCH_DELETION);
        gone(THIRD);
        assertSent();
        assertGranted(loop);
        assertNobodyWaits();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("H27")
    void unseenDeletionInFront_isNoticedInTurn(boolean deep) {
        String[] inFront = deep ? new String[] {OTHER, SECOND, THIRD} : new String[] {OTHER, THIRD};
        AcquireLoop loop = behind(inFront);
        gone(THIRD);
        assertSent();
        assertWaits(loop);
        gone(OTHER, SECOND);
        assertGranted(loop);
        assertNobodyWaits();
    }

    // ---- What must not be trusted.

    @Test
    @Tag("H25")
    void firstEventAfterAReconnect_isNotTrusted_andTheNextIs() {
        AcquireLoop loop = behind(OTHER, SECOND);
        reconnect();
        gone(OTHER);
        assertSent(Request.MULTI, Request.LIST, Request.WATCH_DELETION, Request.WATCH_DELETION);
        assertWaits(loop);
        gone(SECOND);
        assertSent();
        assertGranted(loop);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("H25")
    void reconnectAfterItHasPrepared_asksForAListOnceMore(boolean deep) {
        AcquireLoop loop = deep ? behind(OTHER, SECOND, THIRD) : behind(OTHER, THIRD);
        gone(OTHER, SECOND);
        assertWaits(loop);
        operations.requests();
        reconnect();
        gone(THIRD);
        assertSent(Request.MULTI, Request.LIST);
        assertGranted(loop);
    }

    @Test
    @Tag("H25")
    void connectionLostWhileItPrepares_leavesItWithAListOnTheNext() {
        AcquireLoop loop = behind(OTHER, SECOND, THIRD);
        operations.refuse(Request.WATCH_DELETION, Code.CONNECTIONLOSS, Code.CONNECTIONLOSS);
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS);
        operations.remove(OTHER);
        operations.remove(SECOND);
        scheduler.run();
        become(State.DISCONNECTED);
        become(State.CONNECTED);
        scheduler.advance(Duration.ofSeconds(2));
        assertWaits(loop);
        assertThat(operations.watchedForDeletion()).containsExactlyInAnyOrder(newest(), THIRD);
        operations.requests();
        gone(THIRD);
        assertSent();
        assertGranted(loop);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("H26")
    void ownNodeDeletedBeforeItPrepares_isNeverGrantedOn(boolean deep) {
        AcquireLoop loop = deep ? behind(OTHER, SECOND, THIRD) : behind(OTHER, THIRD);
        String lost = newest();
        gone(lost, OTHER, SECOND, THIRD);
        assertGrantedOnAnother(loop, lost);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("H26")
    void ownNodeDeletedAfterItHasPrepared_isNeverGrantedOn(boolean deep) {
        AcquireLoop loop = deep ? behind(OTHER, SECOND, THIRD) : behind(OTHER, THIRD);
        String lost = newest();
        gone(OTHER, SECOND);
        assertWaits(loop);
        gone(lost, THIRD);
        assertGrantedOnAnother(loop, lost);
    }

    // ---- Whom it concerns.

    @Test
    @Tag("H04")
    void whereNodesMayAppearInFront_nobodyPrepares_asAListIsNeededAnyway() {
        operations.add("write-0000000000");
        operations.add("write-0000000001");
        operations.count(10);
        AcquireLoop writer = launched(LockGroup.of(spec(ModeDriver.EXCLUSIVE).withNodesInFront("read-")), Mode.QUEUE);
        scheduler.run();
        assertThat(operations.watchedForDeletion()).containsExactly("write-0000000001");
        operations.requests();
        gone("write-0000000000", "write-0000000001");
        assertSent(Request.LIST);
        assertGranted(writer);
    }

    /** A semaphore of three permits, served in order. */
    private record Permits(String nodeName) implements FifoDriver {
        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parse(childName, "one-").or(() -> LockNode.parse(childName, "three-"));
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            int sum = permits(self);
            for (int i = predecessors.size() - 1; i >= 0; i--) {
                sum += permits(predecessors.get(i));
                if (sum > 3) {
                    return Decision.waitFor(predecessors.subList(i, predecessors.size()));
                }
            }
            return Decision.granted();
        }

        private static int permits(LockNode node) {
            return node.kind().startsWith("three") ? 3 : 1;
        }
    }

    @Test
    @Tag("H22")
    void requestBlockedByItsNeighbourAlone_waitsForTheNeighbour() {
        AcquireLoop loop = behind(new Permits("one-"), "one-0000000000", "three-0000000001");
        assertThat(operations.watchedForDeletion()).contains("three-0000000001");
        gone("three-0000000001"); // it gives up, while the first one holds
        assertGranted(loop);
    }

    @Test
    @Tag("H22")
    void requestBehindAWaiterForAnyOfSeveral_waitsForThese_andThenForTheRest() {
        AcquireLoop loop =
                behind(new Permits("one-"), "one-0000000000", "one-0000000001", "one-0000000002", "one-0000000003");
        assertThat(operations.watchedForDeletion())
                .containsExactly("one-0000000000", "one-0000000001", "one-0000000002");
        operations.requests();
        gone("one-0000000001");
        assertSent(Request.WATCH_DELETION, Request.WATCH_DELETION);
        assertWaits(loop);
        gone("one-0000000000");
        assertSent();
        assertGranted(loop);
        assertNobodyWaits();
    }
}
