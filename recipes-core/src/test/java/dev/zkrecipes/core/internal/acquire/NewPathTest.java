// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.session.SessionNodes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A path that is missing is made together with the node below it, and the queue is known without a list. */
class NewPathTest extends AcquireFixture {

    private AcquireLoop launchedAt(String path, Mode mode) {
        AcquireLoop loop = launched(mutexAt(path), mode);
        scheduler.run();
        return loop;
    }

    private List<Request> cycle(String path) {
        return cycle(mutexAt(path));
    }

    /** The server has no such path when the create comes. */
    private List<Request> cycleOnMissing(String path) {
        operations.refuse(Request.CREATE, Code.NONODE);
        return cycle(path);
    }

    private void expectMissingPaths() {
        cycleOnMissing("/orders/1");
        cycleOnMissing("/orders/2");
    }

    @Test
    void missingPath_isMadeWithTheNode() {
        assertThat(cycleOnMissing("/orders/1"))
                .as("the list was asked for with the create")
                .containsExactly(Request.CREATE, Request.MULTI, Request.LIST, Request.DELETE);
    }

    @Test
    void likelyMissingPath_isTwoRequests() {
        expectMissingPaths();
        assertThat(cycle("/orders/3")).containsExactly(Request.MULTI, Request.DELETE);
        assertThat(cycle("/customers/1"))
                .as("another folder")
                .containsExactly(Request.CREATE, Request.LIST, Request.DELETE);
    }

    @Test
    void madePath_isKnownFromTheBeginning() {
        expectMissingPaths();
        cycle("/orders/3");
        assertThat(cycle("/orders/3")).containsExactly(Request.WATCH, Request.CREATE, Request.LIST, Request.DELETE);
        assertThat(cycle("/orders/3")).containsExactly(Request.CREATE, Request.DELETE);
    }

    @Test
    void tryOnAMissingPath_makesIt() {
        operations.refuse(Request.LIST, Code.NONODE);
        AcquireLoop loop = launchedAt("/orders/1", Mode.TRY);
        assertThat(loop.outcome().join()).isPresent();
        assertThat(operations.requests()).containsExactly(Request.LIST, Request.MULTI);
    }

    /** Somebody else made the path first, and holds the lock. */
    @Test
    @Tag("H160")
    void pathOfSomebodyElse_isListed() {
        expectMissingPaths();
        operations.add("/orders/3", OTHER);
        operations.refuse(Request.MULTI, Code.NODEEXISTS);
        AcquireLoop waiting = launchedAt("/orders/3", Mode.QUEUE);
        assertWaits(waiting);
        assertThat(operations.requests()).startsWith(Request.MULTI, Request.CREATE, Request.LIST);
    }

    @Test
    @Tag("H160")
    void pathMadeBySomebodyElse_afterTheRefusal_isListed() {
        operations.add(PATH, OTHER);
        operations.refuse(Request.CREATE, Code.NONODE);
        operations.refuse(Request.MULTI, Code.NODEEXISTS);
        assertWaits(queueing());
    }

    /** Paths that are there must not pay for those that are not. */
    @Test
    @Tag("H161")
    void wrongGuess_isNotRepeatedForAWhile() {
        expectMissingPaths();
        operations.refuse(Request.MULTI, Code.NODEEXISTS);
        cycle("/orders/there");
        for (int order = 3; order < 10; order++) {
            assertThat(cycleOnMissing("/orders/" + order)).startsWith(Request.CREATE, Request.MAKE_PATH, Request.LIST);
        }
        assertThat(cycleOnMissing("/orders/10")).startsWith(Request.CREATE, Request.MULTI);
        cycleOnMissing("/orders/11");
        cycleOnMissing("/orders/12");
        assertThat(cycle("/orders/13")).containsExactly(Request.MULTI, Request.DELETE);
    }

    @Test
    @Tag("H161")
    void pathThatIsThere_endsTheGuess() {
        cycleOnMissing("/orders/1");
        cycle("/orders/there");
        cycleOnMissing("/orders/2");
        assertThat(cycle("/orders/3")).startsWith(Request.CREATE, Request.LIST);
    }

    @Test
    @Tag("H161")
    void knownPath_isNotGuessedAbout() {
        cycle("/orders/there");
        expectMissingPaths();
        assertThat(cycle("/orders/there")).startsWith(Request.WATCH, Request.CREATE, Request.LIST);
    }

    /** Both the path and the node are there. */
    @Test
    @Tag("H162")
    void lostAnswer_ofWhatWasDone_isSettled() {
        expectMissingPaths();
        operations.loseAnswerOf(Request.MULTI);
        AcquireLoop loop = launchedAt("/orders/3", Mode.QUEUE);
        scheduler.advance(Duration.ofSeconds(20));
        assertThat(loop.outcome().join()).isPresent();
        assertThat(ours()).hasSize(1);
    }

    /** Neither is there. */
    @Test
    @Tag("H162")
    void lostAnswer_ofWhatWasNotDone_isSettled() {
        expectMissingPaths();
        operations.refuse(Request.MULTI, Code.CONNECTIONLOSS);
        AcquireLoop loop = launchedAt("/orders/3", Mode.QUEUE);
        scheduler.advance(Duration.ofSeconds(20));
        assertThat(loop.outcome().join()).isPresent();
        assertThat(ours()).hasSize(1);
    }

    @Test
    void givenUp_leavesNothing() {
        expectMissingPaths();
        operations.delayAnswerOf(Request.MULTI, Duration.ofSeconds(1));
        AcquireLoop loop = launchedAt("/orders/3", Mode.QUEUE);
        loop.giveUp();
        scheduler.advance(Duration.ofSeconds(2));
        assertLeftNothing();
    }

    /** Whatever the reason is, the way that is known to work follows. */
    @ParameterizedTest
    @EnumSource(
            value = Code.class,
            names = {"NOAUTH", "BADARGUMENTS", "MARSHALLINGERROR"})
    @Tag("H163")
    void refusedTransaction_isFollowedByRequestsOneByOne(Code refusal) {
        operations.refuse(Request.CREATE, Code.NONODE, Code.NONODE);
        operations.refuse(Request.MULTI, refusal);
        assertThat(cycle("/orders/1"))
                .containsSubsequence(Request.MULTI, Request.CREATE, Request.MAKE_PATH, Request.CREATE, Request.LIST);
    }

    @Test
    @Tag("H163")
    void serverWithoutContainers_isNotAskedAgain() {
        operations.refuse(Request.CREATE, Code.NONODE, Code.NONODE);
        operations.refuse(Request.MULTI, Code.UNIMPLEMENTED);
        cycle("/orders/1");
        operations.refuse(Request.CREATE, Code.NONODE);
        assertThat(cycle("/customers/1"))
                .as("the request behind the first create makes a persistent node")
                .containsExactly(
                        Request.CREATE, Request.MULTI, Request.LIST, Request.CREATE, Request.LIST, Request.DELETE);
    }

    @Test
    void missingFolder_isMadeFirst() {
        operations.refuse(Request.CREATE, Code.NONODE);
        operations.refuse(Request.MULTI, Code.NONODE);
        assertThat(cycle("/orders/1"))
                .startsWith(Request.CREATE, Request.MULTI, Request.LIST, Request.MAKE_PATH, Request.CREATE);
        assertThat(cycle("/orders/2")).as("the folder is new, too").containsExactly(Request.MULTI, Request.DELETE);
    }

    @Test
    void pathWithARule_isMadeWithIt() {
        operations.refuse(Request.CREATE, Code.NONODE);
        LockGroup group = LockGroup.of(spec(new LimitDriver(new AtomicInteger(1))));
        AcquireLoop loop = launched(group, Mode.QUEUE);
        scheduler.run();
        HeldNode held = assertGranted(loop);
        assertThat(operations.requests()).containsExactly(Request.CREATE, Request.MULTI, Request.LIST);
        assertWaits(queueing(new LimitDriver(new AtomicInteger(1))));
        Grant.of(held).release();
    }

    @Test
    void severalMissingPaths_areMadeTogether() {
        expectMissingPaths();
        LockGroup group = together(LockOptions.defaults(), "/orders/3", "/orders/4");
        AcquireLoop loop = launched(group, Mode.QUEUE);
        scheduler.run();
        Grant grant = loop.outcome().join().orElseThrow();
        assertThat(operations.requests()).containsExactly(Request.MULTI);
        grant.release();
        scheduler.run();
        assertThat(operations.requests()).containsExactly(Request.MULTI);
    }

    /** Neither the nodes alone can be made, nor the nodes with all of the paths. */
    @ParameterizedTest
    @ValueSource(ints = {2, 7, 8, 100})
    @Tag("H184")
    void pathsOfWhichOnlySomeAreMissing_areMadeOneByOne(int count) {
        operations.refuse(Request.MULTI, Code.NONODE, Code.NODEEXISTS, Code.NONODE);
        String[] paths = IntStream.range(0, count).mapToObj(i -> "/orders/" + i).toArray(String[]::new);
        List<Request> sent = cycle(together(LockOptions.defaults(), paths));
        assertThat(sent).filteredOn(Request.MAKE_PATH::equals).hasSize(count);
        assertThat(sent)
                .filteredOn(Request.MULTI::equals)
                .as("the last one releases")
                .hasSize(5);
    }

    @Test
    void likelyMissingPath_needsRoomInTheSession() {
        HeldNode held = assertGranted(launchedAt("/other/lock", Mode.QUEUE));
        expectMissingPaths();
        SessionNodes nodes = held.session().nodes();
        nodes.add("others", nodes.packetLimit());
        assertThat(launchedAt("/orders/3", Mode.QUEUE).outcome())
                .isCompletedExceptionally()
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(LockLimitException.class);
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    @Tag("H161")
    void severalMissingPaths_countOnce() {
        expectMissingPaths();
        operations.refuse(Request.MULTI, Code.NODEEXISTS);
        cycle("/orders/there");
        operations.refuse(Request.MULTI, Code.NONODE);
        LockGroup group = together(
                LockOptions.defaults(),
                IntStream.range(10, 19).mapToObj(i -> "/orders/" + i).toArray(String[]::new));
        assertThat(cycle(group)).startsWith(Request.MULTI, Request.MAKE_PATH);
    }

    @Test
    void lockWithAnAclOfItsOwn_isMadeOneByOne() {
        operations.refuse(Request.MULTI, Code.NONODE);
        LockGroup group = LockGroup.of(
                spec(new TestDriver("lock-"), LockOptions.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL)));
        assertThat(cycle(group)).startsWith(Request.MULTI, Request.MAKE_PATH);
    }
}
