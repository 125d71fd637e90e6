// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static dev.zkrecipes.core.internal.acquire.AcquireFixture.PATH;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AcquireLoopTest {
    private final AcquireFixture fixture = new AcquireFixture();
    private final ManualScheduler scheduler = fixture.scheduler;
    private final ScriptedOperations operations = fixture.operations;
    private final List<LockNode> decidedOn = new ArrayList<>();

    /** A mutex that keeps a record, unless it is told to decide otherwise. */
    private final class RecordingDriver implements LockDriver {
        private final BiFunction<List<LockNode>, LockNode, Decision> rule;

        RecordingDriver(BiFunction<List<LockNode>, LockNode, Decision> rule) {
            this.rule = rule;
        }

        @Override
        public String nodeName() {
            return "lock-";
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parse(childName, "lock-");
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            decidedOn.add(self);
            return rule.apply(predecessors, self);
        }
    }

    private static Decision first(List<LockNode> predecessors, LockNode self) {
        return predecessors.isEmpty()
                ? Decision.granted()
                : Decision.waitFor(predecessors.get(predecessors.size() - 1));
    }

    private InterProcessLock lock(LockOptions options, BiFunction<List<LockNode>, LockNode, Decision> rule) {
        return new LockInternals(fixture.client, PATH, new RecordingDriver(rule), options).threadOwned();
    }

    private void assertRefused(CompletableFuture<Lease> wanted, String message) {
        assertThatThrownBy(wanted::get)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isExactlyInstanceOf(LockRefusedException.class)
                .hasMessageContaining(PATH)
                .hasMessageContaining(message);
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void freeLock_isGrantedByOneCreateAndOneList() throws Exception {
        CompletableFuture<Lease> wanted =
                lock(LockOptions.defaults(), AcquireLoopTest::first).acquireAsync();
        scheduler.run();
        assertThat(wanted).isDone();
        assertThat(decidedOn).extracting(LockNode::name).containsExactlyElementsOf(operations.nodes());
        var unused = wanted.get().closeAsync();
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    @Tag("H09")
    void listWithoutOwnNode_neverReachesTheDriverAndIsNotAGrant() {
        operations.show(names -> List.of());
        CompletableFuture<Lease> wanted =
                lock(LockOptions.defaults(), AcquireLoopTest::first).acquireAsync();
        scheduler.advance(Duration.ofSeconds(5));
        assertThat(wanted).isNotDone();
        assertThat(decidedOn).isEmpty();

        operations.show(names -> names);
        scheduler.advance(Duration.ofSeconds(5));
        assertThat(wanted).isDone();
        assertThat(operations.nodes()).hasSize(1);
        assertThat(operations.deleted()).doesNotContainAnyElementsOf(operations.nodes());
    }

    @Test
    @Tag("H09")
    void listWithoutOwnNode_endsTheAttemptIfToldSo() {
        operations.show(names -> List.of());
        CompletableFuture<Lease> wanted = lock(
                        LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL), AcquireLoopTest::first)
                .acquireAsync();
        scheduler.run();
        assertThatThrownBy(wanted::get).hasCauseExactlyInstanceOf(QueuePlaceLostException.class);
        assertThat(decidedOn).isEmpty();
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    @Tag("H92")
    void driverWaitingForANodeNotInFront_isRefused() {
        CompletableFuture<Lease> itself = lock(LockOptions.defaults(), (predecessors, self) -> Decision.waitFor(self))
                .acquireAsync();
        scheduler.run();
        assertRefused(itself, "do not stand in front");

        LockNode invented = new LockNode("lock-0000000000", "lock-", "", 0);
        CompletableFuture<Lease> other = lock(
                        LockOptions.defaults(), (predecessors, self) -> Decision.waitFor(invented))
                .acquireAsync();
        scheduler.run();
        assertRefused(other, "do not stand in front");
    }

    @Test
    @Tag("H45")
    void throwingDriver_failsTheAttemptWithItsCauseAndLeavesNoNode() {
        CompletableFuture<Lease> exception = lock(LockOptions.defaults(), (predecessors, self) -> {
                    throw new IllegalStateException("no idea\nat all");
                })
                .acquireAsync();
        scheduler.run();
        assertThat(exception).isCompletedExceptionally();
        assertThatThrownBy(exception::get).hasRootCauseInstanceOf(IllegalStateException.class);
        assertRefused(exception, "no idea\\u000aat all");

        CompletableFuture<Lease> error = lock(LockOptions.defaults(), (predecessors, self) -> {
                    throw new AssertionError("broken");
                })
                .acquireAsync();
        scheduler.run();
        assertThatThrownBy(error::get).hasRootCauseInstanceOf(AssertionError.class);
        assertRefused(error, "broken");

        CompletableFuture<Lease> nothing =
                lock(LockOptions.defaults(), (predecessors, self) -> null).acquireAsync();
        scheduler.run();
        assertRefused(nothing, "null");
    }

    @Test
    void never_endsTheAttemptWithItsReason() {
        CompletableFuture<Lease> wanted = lock(
                        LockOptions.defaults(), (predecessors, self) -> Decision.never("out of order"))
                .acquireAsync();
        scheduler.run();
        assertRefused(wanted, "out of order");
    }

    @Test
    @Tag("H05")
    void sharedSequenceNumber_isNeverGranted() {
        operations.show(names -> {
            List<String> shown = new ArrayList<>(names);
            names.forEach(name -> shown.add("0".repeat(32) + name.substring(32)));
            return shown;
        });
        CompletableFuture<Lease> wanted = lock(LockOptions.defaults(), (predecessors, self) -> Decision.granted())
                .acquireAsync();
        scheduler.run();
        assertThatThrownBy(wanted::get).hasMessageContaining("sequence counter").hasMessageContaining(PATH);
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    @Tag("H05")
    void nodeWithANumberOutsideTheCounter_standsBeforeOurs() {
        operations.add("lock--2147483648");
        CompletableFuture<Lease> wanted =
                lock(LockOptions.defaults(), AcquireLoopTest::first).acquireAsync();
        scheduler.run();
        assertThat(wanted).isNotDone();
        assertThat(operations.nodes()).hasSize(2);
        wanted.cancel(true);
        scheduler.run();
        assertThat(operations.nodes()).containsExactly("lock--2147483648");
    }
}
