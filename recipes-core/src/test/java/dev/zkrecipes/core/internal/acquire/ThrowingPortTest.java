// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static dev.zkrecipes.core.internal.acquire.AcquireFixture.OTHER;
import static dev.zkrecipes.core.internal.acquire.AcquireFixture.PATH;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.node.HeldNodes;
import dev.zkrecipes.core.spi.MutexDriver;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A port that throws instead of answering: every request that needed the answer fails by name, and none hangs. */
@Tag("H97")
class ThrowingPortTest {
    private final AcquireFixture fixture = new AcquireFixture();
    private final ManualScheduler scheduler = fixture.scheduler;
    private final ScriptedOperations operations = fixture.operations;

    private static void assertNamesIt(AcquireLoop loop) {
        assertThat(loop.outcome()).isCompletedExceptionally();
        assertThatThrownBy(loop.outcome()::join)
                .cause()
                .isInstanceOf(LockException.class)
                .hasMessageContaining(PATH)
                .hasMessageContaining("broken handle")
                .hasRootCauseInstanceOf(IllegalStateException.class);
    }

    private void assertWorksAgain() {
        scheduler.advance(Duration.ofSeconds(40));
        AcquireLoop next = fixture.queueing(new MutexDriver());
        HeldNodes.release(List.of(fixture.assertGranted(next)));
        scheduler.run();
        fixture.assertLeftNothing();
    }

    @Test
    void failingSharedList_failsAllItsRequests() {
        operations.breakOn(Request.LIST);
        List<AcquireLoop> loops = fixture.launchedTogether(3, new MutexDriver());
        scheduler.run();
        loops.forEach(ThrowingPortTest::assertNamesIt);
        assertWorksAgain();
    }

    @Test
    void failingSharedProof_failsAllItsRequests() {
        operations.add("write-0000000000");
        List<AcquireLoop> readers = fixture.launchedTogether(3, ModeDriver.SHARED);
        scheduler.advance(fixture.timeout.multipliedBy(3).dividedBy(4));
        operations.breakOn(Request.MULTI);
        operations.remove("write-0000000000");
        scheduler.run();
        readers.forEach(ThrowingPortTest::assertNamesIt);
        assertWorksAgain();
    }

    /** What became of creates whose answers were lost is found out by a write and a list behind it. */
    private List<AcquireLoop> withLostCreates() {
        operations.add(OTHER);
        operations.loseAnswerOf(Request.CREATE);
        operations.loseAnswerOf(Request.CREATE);
        List<AcquireLoop> loops = fixture.launchedTogether(2, new MutexDriver());
        scheduler.run();
        return loops;
    }

    @Test
    void failingWriteBeforeTheSettlingList_failsAllItsRequests() {
        List<AcquireLoop> loops = withLostCreates();
        operations.breakOn(Request.MULTI);
        fixture.reconnect();
        scheduler.advance(Duration.ofSeconds(10));
        loops.forEach(ThrowingPortTest::assertNamesIt);
        operations.remove(OTHER);
        assertWorksAgain();
    }

    @Test
    void failingSettlingList_failsAllItsRequests_beforeItsWriteIsAnswered() {
        List<AcquireLoop> loops = withLostCreates();
        operations.breakOn(Request.LIST);
        operations.delayAnswerOf(Request.MULTI, Duration.ofSeconds(3));
        fixture.reconnect();
        scheduler.advance(Duration.ofSeconds(10));
        loops.forEach(ThrowingPortTest::assertNamesIt);
        operations.remove(OTHER);
        assertWorksAgain();
    }

    @ParameterizedTest
    @EnumSource(
            value = Request.class,
            names = {"CREATE", "LIST", "WATCH_DELETION"})
    void failingSend_failsTheAcquire(Request broken) {
        operations.add(OTHER);
        operations.breakOn(broken);
        AcquireLoop loop = fixture.queueing(new MutexDriver());
        assertNamesIt(loop);
        operations.remove(OTHER);
        assertWorksAgain();
    }
}
