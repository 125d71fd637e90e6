// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.clean.NodeCleaner;
import dev.zkrecipes.core.internal.clean.OwnNode;
import dev.zkrecipes.core.internal.client.LivingSessions;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The nodes of several locks that were acquired as one leave by one request, or each by itself. */
class NodesTogetherTest extends AcquireFixture {
    private static final Duration MOMENT = Duration.ofSeconds(1);

    private Grant held() {
        AcquireLoop loop = launched(together(LockOptions.defaults(), "/locks/a", "/locks/b"), Mode.QUEUE);
        scheduler.run();
        assertGranted(loop);
        operations.requests();
        return loop.outcome().join().orElseThrow();
    }

    private void release(Grant all) {
        all.release();
        scheduler.run();
    }

    private void assertGone(Grant all) {
        assertThat(all.nodes()).allSatisfy(node -> assertThat(node.gone()).isCompleted());
        assertLeftNothing();
    }

    private NodeCleaner cleaner() {
        return engine.cleaner();
    }

    @Test
    void released_theyLeaveByOneRequest() {
        Grant all = held();
        release(all);
        assertThat(operations.requests()).containsExactly(Request.MULTI);
        assertGone(all);
    }

    @Test
    void whileTheRequestIsUnderWay_theyAreLeaving() {
        Grant all = held();
        operations.delayAnswerOf(Request.MULTI, MOMENT);
        release(all);
        for (HeldNode node : all.nodes().toList()) {
            assertThat(cleaner().leaving(LockPath.parent(node.nodePath()), node.session()))
                    .containsExactly(LockPath.name(node.nodePath()));
        }
        scheduler.advance(MOMENT);
        assertGone(all);
    }

    @Test
    void ifTheAnswerIsLost_eachIsDeletedByItself() {
        Grant all = held();
        operations.refuse(Request.MULTI, Code.CONNECTIONLOSS);
        release(all);
        assertThat(operations.requests()).containsExactly(Request.MULTI, Request.DELETE, Request.DELETE);
        assertGone(all);
    }

    @Test
    void withoutAConnection_theyWaitForOne() {
        Grant all = held();
        become(State.DISCONNECTED);
        release(all);
        assertThat(operations.requests()).isEmpty();
        become(State.CONNECTED);
        scheduler.run();
        assertThat(operations.requests())
                .contains(Request.DELETE, Request.DELETE)
                .doesNotContain(Request.MULTI);
        assertGone(all);
    }

    @Test
    void ofDiscardedNodes_eachHasAFuture() {
        List<OwnNode> nodes = held().nodes().map(HeldNode::node).toList();
        List<CompletableFuture<Void>> gone = cleaner().discard(nodes);
        assertThat(gone).hasSize(2).noneMatch(CompletableFuture::isDone);
        scheduler.run();
        assertThat(gone).allSatisfy(each -> assertThat(each).isCompleted());
    }

    // ---- Nobody knows whether they were created.

    @Test
    @Tag("H108")
    void abandonedNodesMadeBetweenTheListsOfTwoPaths_areDeleted() {
        AcquireLoop loop = withLostCreate();
        hideOneInOneList();
        loop.giveUp();
        scheduler.advance(MOMENT);
        assertThat(ours()).isEmpty();
    }

    @Test
    @Tag("H108")
    void abandonedNodesMadeBetweenTheLastListsOfTwoPaths_areDeleted() {
        AcquireLoop loop = withLostCreate();
        operations.show(names -> List.of());
        loop.giveUp();
        scheduler.advance(timeout.multipliedBy(7));
        assertThat(ours()).hasSize(2);
        hideOneInOneList();
        scheduler.advance(timeout);
        assertThat(ours()).isEmpty();
    }

    @Test
    void abandonedNodesThatTurnUpLate_areEachDeletedOnce() {
        AcquireLoop loop = withLostCreate();
        operations.show(names -> List.of());
        loop.giveUp();
        scheduler.advance(MOMENT);
        operations.requests();
        operations.show(names -> names);
        operations.delayAnswersOf(Request.LIST, Duration.ofMillis(10)); // so both are looked for at the same time
        scheduler.advance(timeout.multipliedBy(2));
        assertThat(ours()).isEmpty();
        List<Request> requests = operations.requests();
        assertThat(requests).filteredOn(Request.LIST::equals).hasSize(2);
        assertThat(requests).filteredOn(Request.DELETE::equals).hasSize(2);
    }

    /** The nodes of the request are there, which it does not know. */
    private AcquireLoop withLostCreate() {
        operations.loseAnswerOf(Request.MULTI);
        AcquireLoop loop = launched(together(LockOptions.defaults(), "/locks/a", "/locks/b"), Mode.QUEUE);
        scheduler.run();
        assertThat(ours()).hasSize(2);
        return loop;
    }

    /** The next list is one that was taken before the nodes were made. */
    private void hideOneInOneList() {
        List<String> hidden = new ArrayList<>(ours().subList(0, 1));
        operations.show(
                names -> names.stream().filter(name -> !hidden.remove(name)).toList());
    }

    // ---- Old counters, which the last to leave starts anew.

    private Grant heldOnOldCounters() {
        scheduler.run();
        operations.count(OwnNode.OLD);
        return held();
    }

    @Test
    @Tag("H121")
    void oldCounters_areStartedAnew_whenTheNodesAreGone() {
        Grant all = heldOnOldCounters();
        release(all);
        assertThat(operations.requests())
                .containsExactly(
                        Request.MULTI,
                        Request.READ,
                        Request.READ,
                        Request.ACL,
                        Request.ACL,
                        Request.MULTI,
                        Request.MULTI);
        assertGone(all);
    }

    @Test
    void oldCountersThatOthersUse_areLeftAsTheyAre() {
        Grant all = heldOnOldCounters();
        operations.refuse(Request.MULTI, Code.OK, Code.NOTEMPTY, Code.NOTEMPTY);
        release(all);
        assertThat(operations.requests()).endsWith(Request.MULTI, Request.MULTI).doesNotContain(Request.DELETE);
        assertGone(all);
    }

    @Test
    void afterTheClientIsClosed_nothingIsSentAgain() {
        Grant all = heldOnOldCounters();
        operations.refuse(Request.MULTI, Code.NOTEMPTY);
        operations.delayAnswerOf(Request.MULTI, MOMENT);
        release(all);
        cleaner().abandonAll();
        operations.requests();
        scheduler.advance(MOMENT);
        assertThat(operations.requests()).isEmpty();
    }

    // ---- When the client is closed.

    @Test
    void nodesOfLivingSessions_endWithThem() {
        Grant all = held();
        operations.delayAnswerOf(Request.MULTI, MOMENT);
        release(all);
        assertThat(cleaner().hasNodesBeside(LivingSessions.of(engine))).isFalse();
        assertThat(cleaner().hasNodesBeside(List.of())).isTrue();
        scheduler.advance(MOMENT);
        assertThat(cleaner().hasNodesBeside(List.of())).isFalse();
    }

    @Test
    void closedClient_leavesToTheServerWhatAnEndedSessionHad() {
        Grant all = held();
        operations.refuse(Request.MULTI, Code.CONNECTIONLOSS);
        become(State.DISCONNECTED);
        release(all);
        assertThat(cleaner().isEmpty()).isFalse();
        setCanOpen(false);
        become(State.EXPIRED);
        scheduler.run();
        client.close();
        scheduler.advance(timeout.multipliedBy(2));
        assertThat(cleaner().isEmpty()).isTrue();
        assertThat(all.nodes()).allSatisfy(node -> assertThat(node.gone()).isCompleted());
    }
}
