// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Deadlock;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.ask.DeadlockLook;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** All nodes have the same data here: whoever waits holds the node in front, so it waits for itself. */
class DeadlockLookTest extends AcquireFixture {
    private static final String HOLDER = "0123456789abcdef0123456789abcdef-lock-0000000000";

    private final List<Deadlock> reports = new ArrayList<>();
    private AcquireLoop waiting;

    @BeforeEach
    void waitBehindTheHolder() {
        operations.add(HOLDER);
        waiting = queueing();
        assertWaits(waiting);
        everyNodeHolds(LockPath.child(PATH, HOLDER));
        operations.requests();
    }

    private void everyNodeHolds(String... nodes) {
        operations.change(HOLDER, OwnerLabel.withHolds(OwnerLabel.encode("x"), List.of(nodes)));
        scheduler.run();
    }

    private boolean look() {
        boolean begins = DeadlockLook.begin(engine.requests(), waiting, reports::add);
        scheduler.run();
        return begins;
    }

    @Test
    void circle_isProvenByOneTransaction_behindReads() {
        assertThat(look()).isTrue();
        assertThat(reports).singleElement().matches(Deadlock::isProven);
        assertThat(operations.requests()).containsExactly(Request.LIST, Request.READ, Request.READ, Request.MULTI);
        assertWaits(waiting);
    }

    @ParameterizedTest
    @CsvSource({"MULTI, NONODE", "MULTI, CONNECTIONLOSS", "READ, CONNECTIONLOSS", "LIST, CONNECTIONLOSS"})
    @Tag("H182")
    void nodesThatAreNotAllSeen_proveNothing(Request request, Code code) {
        operations.refuse(request, code);
        look();
        assertThat(reports).isEmpty();
        look();
        assertThat(reports).hasSize(1);
    }

    @Test
    void requestThatIsGrantedMeanwhile_isNotReported() {
        operations.delayAnswerOf(Request.MULTI, timeout);
        look();
        operations.remove(HOLDER);
        scheduler.advance(timeout.multipliedBy(2));
        assertThat(reports).isEmpty();
        assertThat(look()).isFalse();
        Grant.of(assertGranted(waiting)).release();
    }

    /** Anybody may have written them. */
    @ParameterizedTest
    @ValueSource(strings = {"", "/", "x", "//", "/a//b", "/a/\u0007", "/locks/orders/", "holds=/a"})
    void malformedHolds_closeNoCircle(String node) {
        everyNodeHolds(node);
        look();
        assertThat(reports).isEmpty();
    }

    @Test
    void look_readsAHundredNodesAtMost() {
        Stream.iterate(1, i -> i < 300, i -> i + 1)
                .forEach(i -> operations.add(String.format("0123456789abcdef0123456789abcdef-lock-%010d", 1000 + i)));
        look();
        assertThat(operations.requests()).filteredOn(Request.READ::equals).hasSize(100);
    }
}
