// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.internal.LockNodeDriver;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AcquireLoopTest extends AcquireFixture {
    private final List<LockNode> decidedOn = new ArrayList<>();

    private static Decision first(List<LockNode> predecessors, LockNode self) {
        return Decision.grantedIfFirst(predecessors);
    }

    /** Keeps a record of the nodes that the driver decides on. */
    private InterProcessLock lock(LockOptions options, LockNodeDriver rule) {
        LockNodeDriver recording = (predecessors, self) -> {
            decidedOn.add(self);
            return rule.decide(predecessors, self);
        };
        return new LockInternals(client, PATH, recording, options).threadOwned();
    }

    private InterProcessLock lock(LockNodeDriver rule) {
        return lock(LockOptions.defaults(), rule);
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
    @Tag("H09")
    void listWithoutOwnNode_neverReachesTheDriverAndIsNotAGrant() {
        operations.show(names -> List.of());
        CompletableFuture<Lease> wanted = lock(AcquireLoopTest::first).acquireAsync();
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
        CompletableFuture<Lease> wanted =
                asked(lock(LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL), AcquireLoopTest::first));
        assertThatThrownBy(wanted::get).hasCauseExactlyInstanceOf(QueuePlaceLostException.class);
        assertThat(decidedOn).isEmpty();
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    @Tag("H92")
    void driverWaitingForANodeNotInFront_isRefused() {
        CompletableFuture<Lease> itself = asked(lock((predecessors, self) -> Decision.waitFor(self)));
        assertRefused(itself, "do not stand in front");

        LockNode invented = new LockNode("lock-0000000000", "lock-", "", 0);
        CompletableFuture<Lease> other = asked(lock((predecessors, self) -> Decision.waitFor(invented)));
        assertRefused(other, "do not stand in front");
    }

    @Test
    @Tag("H45")
    void throwingDriver_failsTheAttemptWithItsCauseAndLeavesNoNode() {
        CompletableFuture<Lease> exception = lock((predecessors, self) -> {
                    throw new IllegalStateException("no idea\nat all");
                })
                .acquireAsync();
        scheduler.run();
        assertThat(exception).isCompletedExceptionally();
        assertThatThrownBy(exception::get).hasRootCauseInstanceOf(IllegalStateException.class);
        assertRefused(exception, "no idea\\u000aat all");

        CompletableFuture<Lease> error = lock((predecessors, self) -> {
                    throw new AssertionError("broken");
                })
                .acquireAsync();
        scheduler.run();
        assertThatThrownBy(error::get).hasRootCauseInstanceOf(AssertionError.class);
        assertRefused(error, "broken");

        CompletableFuture<Lease> nothing = asked(lock((predecessors, self) -> null));
        assertRefused(nothing, "null");
    }

    @Test
    void never_endsTheAttemptWithItsReason() {
        CompletableFuture<Lease> wanted = asked(lock((predecessors, self) -> Decision.never("out of order")));
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
        CompletableFuture<Lease> wanted = asked(lock((predecessors, self) -> Decision.granted()));
        assertThatThrownBy(wanted::get).hasMessageContaining("sequence counter").hasMessageContaining(PATH);
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    @Tag("H05")
    void nodeWithANumberOutsideTheCounter_standsBeforeOurs() {
        operations.add("lock--2147483648");
        CompletableFuture<Lease> wanted = asked(lock(AcquireLoopTest::first));
        assertThat(wanted).isNotDone();
        assertThat(operations.nodes()).hasSize(2);
        wanted.cancel(true);
        scheduler.run();
        assertThat(operations.nodes()).containsExactly("lock--2147483648");
    }
}
