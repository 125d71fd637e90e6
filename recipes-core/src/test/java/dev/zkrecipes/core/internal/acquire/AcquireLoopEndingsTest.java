// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

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
import dev.zkrecipes.core.internal.LockNodeDriver;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.spi.Decision;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What ends an attempt, besides requests that fail, and what it leaves behind then: nothing. */
class AcquireLoopEndingsTest extends AcquireFixture {
    private final LockException refusal = new LockConnectionException("no session for " + PATH);

    @Test
    void tryRefusedByTheDriver_failsWithItsReasonAndWritesNothing() {
        LockNodeDriver never = (predecessors, self) -> Decision.never("out of order");
        AcquireLoop attempt = launched(Mode.TRY, never, LockOptions.defaults());
        scheduler.run();
        assertFailed(attempt, LockRefusedException.class, "out of order");
        assertThat(operations.requests()).containsExactly(Request.LIST);
    }

    @Test
    @Tag("H66")
    void tryAmongNodesOfAnotherKind_failsAndWritesNothing() {
        String foreign = "write-0000000001";
        operations.add(foreign);
        AcquireLoop attempt = launched(Mode.TRY);
        scheduler.run();
        assertFailed(attempt, IncompatibleNodeException.class, foreign);
        assertThat(operations.requests()).as("its owner is looked at").containsExactly(Request.LIST, Request.ACL);
    }

    @Test
    void tryWhileThereIsNoSession_fails() {
        setCanOpen(false);
        AcquireLoop attempt = launched(Mode.TRY);
        scheduler.run();
        assertFailed(attempt, LockConnectionException.class, "no handle");
    }

    @Test
    void requestWhileThereIsNoSession_waitsForOne() {
        setCanOpen(false);
        AcquireLoop attempt = launched(Mode.QUEUE);
        scheduler.run();
        attempt.notNow(refusal);
        assertThat(attempt.outcome()).isNotDone();
        setCanOpen(true);
        scheduler.advance(Duration.ofSeconds(2));
        assertThat(attempt.outcome()).isCompleted();
    }

    @Test
    void requestWithoutAnySessionToCome_fails() {
        setCanOpen(false);
        AcquireLoop attempt = launched(Mode.QUEUE);
        scheduler.run();
        attempt.unavailable(refusal);
        assertFailed(attempt, LockConnectionException.class, "no session");
    }

    @Test
    void lateRefusalOfASession_isIgnored() {
        AcquireLoop attempt = launched(Mode.TRY);
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
        AcquireLoop waiting = launched(Mode.QUEUE);
        scheduler.run();
        client.close();
        AcquireLoop late = launched(Mode.QUEUE);
        scheduler.run();
        for (AcquireLoop attempt : List.of(waiting, late)) {
            assertThat(attempt.outcome()).isCompletedExceptionally(); // else the next line would wait for ever
            assertThatThrownBy(attempt.outcome()::join)
                    .cause()
                    .isExactlyInstanceOf(ClientClosedException.class)
                    .hasMessage("the ZooKeeperClient of the lock " + PATH + " was closed: it takes no more requests");
        }
        assertThat(engine.requests().open()).isEmpty();
    }

    @Test
    void outcomeCancelledAtOnce_endsTheAttempt() {
        AcquireLoop attempt = launched(Mode.QUEUE);
        attempt.outcome().cancel(false);
        scheduler.run();
        assertThat(operations.requests()).isEmpty();
        assertLeftNothing();
    }

    @Test
    @Tag("H26")
    void deletedOwnNode_endsTheAttemptWithPolicyFail() {
        operations.add(OTHER);
        LockOptions failing = LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL);
        AcquireLoop attempt = launched(Mode.QUEUE, new TestDriver("lock-"), failing);
        scheduler.run();
        String path = PATH + "/" + newest();
        operations.remove(newest());
        scheduler.run();
        assertFailed(attempt, QueuePlaceLostException.class, "its node " + path + " was deleted by somebody else");
    }

    @Test
    @Tag("H45")
    void failingWatchRequest_failsTheAttemptWithItsCause() {
        operations.add(OTHER);
        operations.breakOn(Request.WATCH_DELETION);
        AcquireLoop attempt = launched(Mode.QUEUE);
        scheduler.run();
        assertFailed(attempt, LockException.class, "the lock engine failed on " + PATH);
        assertThatThrownBy(attempt.outcome()::join).hasRootCauseMessage("broken handle");
    }

    @Test
    void missingChroot_endsTheAttempt() {
        scheduler.run();
        operations.refuse(Request.CREATE, Code.NONODE);
        operations.refuse(Request.MULTI, Code.NONODE);
        operations.refuse(Request.MAKE_PATH, Code.NONODE, Code.NONODE);
        AcquireLoop attempt = launched(Mode.QUEUE);
        scheduler.run();
        assertFailed(attempt, LockException.class, "create the chroot node first");
    }
}
