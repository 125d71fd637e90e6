// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.CounterExhaustedException;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.wire.CounterAge;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What may come between a request and the new beginning of its path's counter. */
@Tag("H05")
class CounterRenewalTest {
    private static final String OTHER = AcquireFixture.OTHER;
    private static final String THIRD = "lock-0000000001";

    private final AcquireFixture fixture = new AcquireFixture();
    private final ManualScheduler scheduler = fixture.scheduler;
    private final ScriptedOperations operations = fixture.operations;

    /** A request behind somebody else on a counter near its end. */
    private AcquireLoop waiting() {
        scheduler.run();
        operations.add(OTHER);
        operations.count(CounterAge.WORN_OUT);
        AcquireLoop loop = fixture.queueing();
        assertThat(loop.outcome()).isNotDone();
        assertThat(operations.nodes()).containsExactly(OTHER);
        assertThat(operations.watchedForDeletion()).containsExactly(OTHER);
        operations.requests();
        return loop;
    }

    private void othersLeave() {
        operations.remove(OTHER);
        scheduler.run();
    }

    private void assertRenewedFor(AcquireLoop loop) {
        String granted = fixture.assertGranted(loop).nodePath();
        assertThat(CounterAge.of(granted)).isLessThan(CounterAge.OLD);
        assertThat(operations.watchedForDeletion()).isEmpty();
    }

    @Test
    void ofSeveralOthers_oneAtATimeIsWatched() {
        scheduler.run();
        operations.add(THIRD);
        AcquireLoop loop = waiting(OTHER, THIRD);
        othersLeave();
        assertThat(loop.outcome()).isNotDone();
        assertThat(operations.watchedForDeletion()).containsExactly(THIRD);
        operations.remove(THIRD);
        scheduler.run();
        assertRenewedFor(loop);
    }

    private AcquireLoop waiting(String watched, String notWatched) {
        operations.add(watched);
        operations.count(CounterAge.WORN_OUT);
        AcquireLoop loop = fixture.queueing();
        assertThat(operations.nodes()).containsExactly(watched, notWatched);
        assertThat(operations.watchedForDeletion()).containsExactly(watched);
        return loop;
    }

    @Test
    void requestThatGivesUp_leavesNoWatch() {
        AcquireLoop loop = waiting();
        loop.giveUp();
        scheduler.run();
        assertThat(loop.outcome()).isCompletedExceptionally();
        assertThat(operations.watched()).isEmpty();
        assertThat(operations.dropped()).containsExactly(OTHER);
        othersLeave();
        assertThat(operations.requests()).isEmpty();
        fixture.assertLeftNothing();
    }

    @Test
    void tryThatFindsOthers_isRefused() {
        scheduler.run();
        operations.add(OTHER);
        operations.count(CounterAge.WORN_OUT);
        AcquireLoop loop = fixture.launched(Mode.TRY);
        scheduler.run();
        assertThat(loop.outcome()).isCompletedWithValueMatching(grants -> grants.isEmpty());
        operations.remove(OTHER);
        fixture.assertLeftNothing();
    }

    @Test
    void nodeOfSomethingElse_isNamed() {
        AcquireLoop loop = waiting();
        operations.add("config");
        othersLeave();
        fixture.assertFailed(
                loop,
                CounterExhaustedException.class,
                "cannot be reset: the node config lies below it: remove that node, or use another path");
    }

    @Test
    void pathThatMayNotBeDeleted_isNamed_withTheRightsThatAreMissing() {
        AcquireLoop loop = waiting();
        operations.refuse(Request.MULTI, Code.NOAUTH);
        othersLeave();
        fixture.assertFailed(
                loop,
                CounterExhaustedException.class,
                "give it ADMIN rights on it, and CREATE and DELETE on /locks, or use another path");
    }

    /** Whoever wrote them down again would lock everybody out. */
    @Test
    void pathWhoseDigestsAreHidden_isNotMadeAgain() {
        AcquireLoop loop = waiting();
        operations.recreatePath(List.of(new ACL(ZooDefs.Perms.ALL, new Id("digest", "alice:x"))));
        operations.count(CounterAge.WORN_OUT);
        othersLeave();
        fixture.assertFailed(loop, CounterExhaustedException.class, "this client may not make it again");
        assertThat(operations.requests()).doesNotContain(Request.MULTI);
    }

    @ParameterizedTest
    @EnumSource(
            value = Code.class,
            names = {"NOTEMPTY", "BADVERSION", "NONODE", "NODEEXISTS"})
    void renewalThatSomebodyForestalled_isDecidedAnew(Code code) {
        AcquireLoop loop = waiting();
        operations.refuse(Request.MULTI, code);
        othersLeave();
        assertRenewedFor(loop);
        assertThat(operations.requests())
                .startsWith(
                        Request.LIST,
                        Request.READ,
                        Request.ACL,
                        Request.MULTI,
                        Request.LIST,
                        Request.READ,
                        Request.ACL,
                        Request.MULTI,
                        Request.LIST);
    }

    @ParameterizedTest
    @EnumSource(
            value = Request.class,
            names = {"LIST", "READ", "ACL", "MULTI"})
    void lostAnswer_isAskedForAgain_afterAPause(Request lost) {
        AcquireLoop loop = waiting();
        operations.refuse(lost, Code.CONNECTIONLOSS);
        othersLeave();
        assertThat(loop.outcome()).isNotDone();
        scheduler.advance(fixture.timeout);
        assertRenewedFor(loop);
    }

    @Test
    void pathThatIsGone_needsNoRenewal() {
        AcquireLoop loop = waiting();
        operations.refuse(Request.LIST, Code.NONODE);
        operations.count(0);
        othersLeave();
        assertRenewedFor(loop);
        assertThat(operations.requests()).doesNotContain(Request.MULTI);
    }

    @Test
    void nodesThatMayNotBeWatched_areToldOf() {
        scheduler.run();
        operations.add(OTHER);
        operations.count(CounterAge.WORN_OUT);
        operations.refuse(Request.WATCH_DELETION, Code.NOAUTH);
        operations.refuse(Request.WATCH, Code.NOAUTH);
        AcquireLoop loop = fixture.queueing();
        operations.remove(OTHER);
        fixture.assertFailed(loop, LockAccessException.class, "watch /locks/orders/" + OTHER);
    }

    @Test
    void severalPaths_areRenewedOneAfterTheOther() {
        scheduler.run();
        operations.count(CounterAge.WORN_OUT);
        AcquireLoop loop =
                fixture.launched(fixture.together(LockOptions.defaults(), "/locks/a", "/locks/b"), Mode.QUEUE);
        scheduler.run();
        fixture.assertGranted(loop);
        assertThat(operations.requests())
                .containsSubsequence(Request.LIST, Request.READ, Request.ACL, Request.MULTI, Request.LIST);
    }
}
