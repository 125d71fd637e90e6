// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static dev.zkrecipes.core.internal.acquire.AcquireFixture.OTHER;
import static dev.zkrecipes.core.internal.acquire.AcquireFixture.PATH;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What ends an attempt, besides requests that fail, and what it leaves behind then: nothing. */
class AcquireLoopEndingsTest {
    private final LockException refusal = new LockConnectionException("no session for " + PATH);

    private final AcquireFixture fixture = new AcquireFixture();
    private final ManualScheduler scheduler = fixture.scheduler;
    private final ScriptedOperations operations = fixture.operations;

    /** Refuses everybody. */
    private record NeverDriver(String nodeName) implements LockDriver {
        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parse(childName, nodeName);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return Decision.never("out of order");
        }
    }

    @Test
    void tryRefusedByTheDriver_failsWithItsReasonAndWritesNothing() {
        AcquireLoop attempt = fixture.launched(Mode.TRY, new NeverDriver("lock-"), LockOptions.defaults());
        scheduler.run();
        fixture.assertFailed(attempt, LockRefusedException.class, "out of order");
        assertThat(operations.requests()).containsExactly(Request.LIST);
    }

    @Test
    @Tag("H66")
    void tryAmongNodesOfAnotherKind_failsAndWritesNothing() {
        String foreign = "write-0000000001";
        operations.add(foreign);
        AcquireLoop attempt = fixture.launched(Mode.TRY);
        scheduler.run();
        fixture.assertFailed(attempt, IncompatibleNodeException.class, foreign);
        assertThat(operations.requests()).as("its owner is looked at").containsExactly(Request.LIST, Request.ACL);
    }

    @Test
    void tryWhileThereIsNoSession_fails() {
        fixture.setCanOpen(false);
        AcquireLoop attempt = fixture.launched(Mode.TRY);
        scheduler.run();
        fixture.assertFailed(attempt, LockConnectionException.class, "no handle");
    }

    @Test
    void requestWhileThereIsNoSession_waitsForOne() {
        fixture.setCanOpen(false);
        AcquireLoop attempt = fixture.launched(Mode.QUEUE);
        scheduler.run();
        attempt.notNow(refusal);
        assertThat(attempt.outcome()).isNotDone();
        fixture.setCanOpen(true);
        scheduler.advance(Duration.ofSeconds(2));
        assertThat(attempt.outcome()).isCompleted();
    }

    @Test
    void requestWithoutAnySessionToCome_fails() {
        fixture.setCanOpen(false);
        AcquireLoop attempt = fixture.launched(Mode.QUEUE);
        scheduler.run();
        attempt.unavailable(refusal);
        fixture.assertFailed(attempt, LockConnectionException.class, "no session");
    }

    @Test
    void lateRefusalOfASession_isIgnored() {
        AcquireLoop attempt = fixture.launched(Mode.TRY);
        operations.show(names -> {
            attempt.notNow(refusal);
            attempt.unavailable(refusal);
            return names;
        });
        scheduler.run();
        assertThat(attempt.outcome()).isCompletedWithValueMatching(grants -> grants.isPresent());
    }

    @Test
    @Tag("H20")
    void closedClient_endsWaitingAndNewRequests() {
        operations.add(OTHER);
        AcquireLoop waiting = fixture.launched(Mode.QUEUE);
        scheduler.run();
        fixture.client.close();
        AcquireLoop late = fixture.launched(Mode.QUEUE);
        scheduler.run();
        for (AcquireLoop attempt : List.of(waiting, late)) {
            assertThat(attempt.outcome()).isCompletedExceptionally(); // else the next line would wait for ever
            assertThatThrownBy(attempt.outcome()::join)
                    .cause()
                    .isExactlyInstanceOf(ClientClosedException.class)
                    .hasMessage("the ZooKeeperClient of the lock " + PATH + " was closed: it takes no more requests");
        }
        assertThat(fixture.engine.requests().open()).isEmpty();
    }

    @Test
    void outcomeCancelledAtOnce_endsTheAttempt() {
        AcquireLoop attempt = fixture.launched(Mode.QUEUE);
        attempt.outcome().cancel(false);
        scheduler.run();
        assertThat(operations.requests()).isEmpty();
        fixture.assertLeftNothing();
    }

    @Test
    @Tag("H26")
    void deletedOwnNode_endsTheAttemptWithPolicyFail() {
        operations.add(OTHER);
        LockOptions failing = LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL);
        AcquireLoop attempt = fixture.launched(Mode.QUEUE, new TestDriver("lock-"), failing);
        scheduler.run();
        String path = PATH + "/" + fixture.newest();
        operations.remove(fixture.newest());
        scheduler.run();
        fixture.assertFailed(
                attempt, QueuePlaceLostException.class, "its node " + path + " was deleted by somebody else");
    }

    @Test
    @Tag("H45")
    void failingWatchRequest_failsTheAttemptWithItsCause() {
        operations.add(OTHER);
        operations.breakOn(Request.WATCH_DELETION);
        AcquireLoop attempt = fixture.launched(Mode.QUEUE);
        scheduler.run();
        fixture.assertFailed(attempt, LockException.class, "the lock engine failed on " + PATH);
        assertThatThrownBy(attempt.outcome()::join).hasRootCauseMessage("broken handle");
    }

    @Test
    void missingChroot_endsTheAttempt() {
        scheduler.run();
        operations.refuse(Request.CREATE, Code.NONODE);
        operations.refuse(Request.MAKE_PATH, Code.NONODE, Code.NONODE);
        AcquireLoop attempt = fixture.launched(Mode.QUEUE);
        scheduler.run();
        fixture.assertFailed(attempt, LockException.class, "create the chroot node first");
    }
}
