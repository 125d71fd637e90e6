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
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.node.OwnNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.wire.CounterAge;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.PortClientBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What ends an attempt, besides requests that fail, and what it leaves behind then: nothing. */
class AcquireLoopEndingsTest {
    private static final String PATH = "/locks/orders";
    private static final String OTHER = "lock-0000000000";
    private final LockException refusal = new LockConnectionException("no session for " + PATH);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private boolean canOpen = true;
    private final ZooKeeperClient client = PortClientBuilder.on(
                    states -> {
                        if (!canOpen) {
                            throw new IllegalStateException("no handle");
                        }
                        return operations;
                    },
                    scheduler)
            .callbackExecutor(Runnable::run)
            .build();
    private final EngineClient engine = EngineClient.of(client);

    private AcquireLoop launched(Mode mode, LockDriver driver, LockOptions options) {
        scheduler.run();
        LockSpec target = new LockSpec(engine, PATH, driver, options);
        AcquireLoop attempt = new AcquireLoop(LockGroup.of(target), mode);
        attempt.launch();
        return attempt;
    }

    private AcquireLoop launched(Mode mode) {
        return launched(mode, new TestDriver("lock-"), LockOptions.defaults());
    }

    private void assertFailed(AcquireLoop attempt, Class<? extends LockException> type, String message) {
        assertThat(attempt.outcome()).isCompletedExceptionally();
        assertThatThrownBy(attempt.outcome()::join)
                .cause()
                .isExactlyInstanceOf(type)
                .hasMessageContaining(PATH)
                .hasMessageContaining(message);
        assertLeftNothing();
    }

    private void assertLeftNothing() {
        scheduler.advance(Duration.ofSeconds(2));
        assertThat(operations.nodes()).as("left behind").allMatch(OTHER::equals);
        assertThat(operations.watched()).isEmpty();
        assertThat(engine.cleaner().isEmpty()).isTrue();
        assertThat(engine.queueGuard().isEmpty()).isTrue();
        assertThat(engine.attempts()).isEmpty();
    }

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
    void tryThatTheDriverRefuses_failsWithItsReasonAndWritesNothing() {
        AcquireLoop attempt = launched(Mode.TRY, new NeverDriver("lock-"), LockOptions.defaults());
        scheduler.run();
        assertFailed(attempt, LockRefusedException.class, "out of order");
        assertThat(operations.requests()).containsExactly(Request.LIST);
    }

    @Test
    @Tag("H66")
    void tryAmongNodesOfAnotherKind_failsAndWritesNothing() {
        String foreign = "0".repeat(OwnNode.ID_LENGTH) + "-write-0000000001";
        operations.show(names -> List.of(foreign));
        AcquireLoop attempt = launched(Mode.TRY);
        scheduler.run();
        assertFailed(attempt, IncompatibleNodeException.class, foreign);
        assertThat(operations.requests()).containsExactly(Request.LIST);
    }

    @Test
    void tryWhileThereIsNoSession_fails() {
        canOpen = false;
        AcquireLoop attempt = launched(Mode.TRY);
        scheduler.run();
        attempt.notNow(refusal);
        assertFailed(attempt, LockConnectionException.class, "no session");
    }

    @Test
    void requestWhileThereIsNoSession_waitsForOne() {
        canOpen = false;
        AcquireLoop attempt = launched(Mode.QUEUE);
        scheduler.run();
        attempt.notNow(refusal);
        assertThat(attempt.outcome()).isNotDone();
        canOpen = true;
        scheduler.advance(Duration.ofSeconds(2));
        assertThat(attempt.outcome()).isCompleted();
    }

    @Test
    void requestForWhichThereWillBeNoSession_fails() {
        canOpen = false;
        AcquireLoop attempt = launched(Mode.QUEUE);
        scheduler.run();
        attempt.unavailable(refusal);
        assertFailed(attempt, LockConnectionException.class, "no session");
    }

    @Test
    void refusalOfASessionThatWasGotMeanwhile_isIgnored() {
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
    void closedClient_endsTheRequestsThatWaitAndThoseThatCome() {
        operations.add(OTHER);
        AcquireLoop waiting = launched(Mode.QUEUE);
        scheduler.run();
        client.close();
        AcquireLoop late = launched(Mode.QUEUE);
        scheduler.run();
        for (AcquireLoop attempt : List.of(waiting, late)) {
            assertThatThrownBy(attempt.outcome()::join)
                    .cause()
                    .isExactlyInstanceOf(ClientClosedException.class)
                    .hasMessageContaining(PATH);
        }
        assertThat(engine.attempts()).isEmpty();
    }

    @Test
    void outcomeThatIsTakenAwayAtOnce_endsTheAttempt() {
        AcquireLoop attempt = launched(Mode.QUEUE);
        attempt.outcome().cancel(false);
        scheduler.run();
        assertThat(operations.requests()).isEmpty();
        assertLeftNothing();
    }

    @Test
    @Tag("H26")
    void ownNodeThatIsDeleted_endsTheAttemptIfToldSo() {
        operations.add(OTHER);
        LockOptions failing = LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL);
        AcquireLoop attempt = launched(Mode.QUEUE, new TestDriver("lock-"), failing);
        scheduler.run();
        String path = attempt.waitingNodes().get(0).path();
        operations.remove(LockPath.name(path));
        scheduler.advance(operations.sessionTimeout().dividedBy(3));
        assertFailed(attempt, QueuePlaceLostException.class, "its node " + path + " was deleted by somebody else");
    }

    @Test
    @Tag("H45")
    void transitionThatThrows_failsTheAttemptWithItsCause() {
        operations.add(OTHER);
        operations.breakOn(Request.WATCH);
        AcquireLoop attempt = launched(Mode.QUEUE);
        scheduler.run();
        assertFailed(attempt, LockException.class, "the lock engine failed");
        assertThatThrownBy(attempt.outcome()::join).hasRootCauseMessage("broken handle");
    }

    @Test
    void chrootThatIsMissing_endsTheAttempt() {
        scheduler.run();
        operations.refuse(Request.CREATE, Code.NONODE);
        operations.refuse(Request.MAKE_PATH, Code.NONODE, Code.NONODE);
        AcquireLoop attempt = launched(Mode.QUEUE);
        scheduler.run();
        assertFailed(attempt, LockException.class, "create the chroot node first");
    }

    @Test
    @Tag("H05")
    void tryOnAWornOutCounterWhileOthersAreThere_isEmpty() {
        operations.show(names -> operations.deleted().isEmpty() ? names : List.of(OTHER));
        AcquireLoop attempt = launched(Mode.TRY);
        operations.count(CounterAge.WORN_OUT);
        scheduler.run();
        assertThat(attempt.outcome()).isCompletedWithValueMatching(grants -> grants.isEmpty());
        assertLeftNothing();
        assertThat(operations.requests()).doesNotContain(Request.WATCH);
    }

    @Test
    @Tag("H05")
    void whoGivesUpWaitingForAWornOutCounter_leavesNoWatch() {
        operations.add(OTHER);
        AcquireLoop attempt = launched(Mode.QUEUE);
        operations.count(CounterAge.WORN_OUT);
        scheduler.run();
        assertThat(operations.watched()).containsExactly(OTHER);
        attempt.giveUp();
        scheduler.run();
        assertThatThrownBy(attempt.outcome()::join).isInstanceOf(CancellationException.class);
        assertLeftNothing();
        assertThat(operations.dropped()).containsExactly(OTHER);
    }
}
