// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class KeepAliveTest extends ClientScene {
    private Lease lease;

    @BeforeEach
    void acquire() {
        lease = acquired("/locks/orders");
    }

    private Lease acquired(String path) {
        return asked(lock(path)).join();
    }

    private static String nodeOf(Lease held) {
        return LockPath.name(held.guard().getPath());
    }

    @Test
    void lease_isCheckedEverySixthOfTheTimeout() {
        operations.requests();
        scheduler.advance(operations.sessionTimeout().multipliedBy(10));
        assertThat(lease.state()).isEqualTo(LeaseState.HELD);
        assertThat(operations.requests()).hasSize(60).containsOnly(ScriptedOperations.Request.MULTI);
    }

    @Test
    void poorProofAfterACheck_isRenewedByASecondOne_once() {
        Duration period = operations.sessionTimeout().dividedBy(6);
        scheduler.advance(period.multipliedBy(10));
        operations.requests();
        Duration moment = Duration.ofMillis(1);
        operations.delayAnswerOf(
                ScriptedOperations.Request.MULTI, period.multipliedBy(2).plus(moment));
        scheduler.advance(period.multipliedBy(3).plus(moment));
        assertThat(operations.requests())
                .as("a late answer")
                .containsExactly(ScriptedOperations.Request.MULTI, ScriptedOperations.Request.MULTI);
        assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    }

    /** Only that thread stood still: the engine and the servers went on. */
    @Test
    @Tag("H285")
    void lookThatTakesASessionTimeout_doesNotLoseALeaseThatIsCheckedMeanwhile() {
        Duration timeout = operations.sessionTimeout();
        scheduler.uponTime = () -> {
            scheduler.uponTime = () -> {};
            scheduler.advance(timeout.multipliedBy(2));
        };
        assertThat(lease.state()).isNotEqualTo(LeaseState.LOST);
        assertThat(lease.state()).isEqualTo(LeaseState.HELD);
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CONNECTED);
    }

    @Test
    @Tag("H08")
    void leaseHeldThroughAStop_isHeldAgainWithTheNextCheck() {
        Duration timeout = operations.sessionTimeout();
        scheduler.advance(timeout.multipliedBy(2));
        scheduler.stop(timeout.dividedBy(2));
        assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    }

    @Test
    @Tag("H11")
    void manyNodesDeletedByAnOperator_areLostSoon_andTheOthersAreHeldAllTheTime() {
        List<Lease> deleted = IntStream.range(0, 100)
                .mapToObj(i -> acquired("/locks/deleted" + i))
                .toList();
        Lease last = acquired("/locks/last");
        deleted.forEach(each -> operations.removeUntold(nodeOf(each)));
        Duration timeout = operations.sessionTimeout();
        operations.delayAnswersOf(ScriptedOperations.Request.MULTI, timeout.dividedBy(30));
        scheduler.advance(timeout.dividedBy(6));
        scheduler.advance(timeout.dividedBy(30).multipliedBy(8)); // one check of all, and halves of halves
        assertThat(deleted).allMatch(each -> each.state() == LeaseState.LOST);
        for (int i = 0; i < 100; i++) {
            scheduler.advance(timeout.dividedBy(50));
            assertThat(List.of(lease, last)).allMatch(each -> each.state() == LeaseState.HELD);
        }
    }

    @Test
    void checkThatFindsANodeGone_provesTheSession() {
        operations.removeUntold(nodeOf(acquired("/locks/deleted")));
        Duration timeout = operations.sessionTimeout();
        scheduler.advance(timeout.dividedBy(6));
        operations.delayAnswersOf(ScriptedOperations.Request.MULTI, timeout.multipliedBy(9)); // those of later checks
        scheduler.advance(timeout.multipliedBy(11).dividedBy(12));
        assertThat(lease.state())
                .as("after 13/12 T, and 11/12 T after the check")
                .isNotEqualTo(LeaseState.LOST);
        scheduler.advance(timeout.dividedBy(6));
        assertThat(lease.ended()).isCompletedWithValue(LeaseState.LOST);
    }

    /** A rival may hold what the operator deleted meanwhile. */
    @Test
    @Tag("H08")
    void nodesDeletedWhileThereIsNoConnection_areNotValidBeforeTheyAreLookedFor() {
        List<Lease> deleted = IntStream.range(0, 9)
                .mapToObj(i -> acquired("/locks/deleted" + i))
                .toList();
        Duration timeout = operations.sessionTimeout();
        scheduler.advance(timeout);
        become(State.DISCONNECTED);
        scheduler.run();
        deleted.forEach(each -> operations.removeUntold(nodeOf(each)));
        operations.delayAnswersOf(ScriptedOperations.Request.MULTI, timeout.dividedBy(60));
        become(State.CONNECTED);
        scheduler.run();
        for (int i = 0; i < 30; i++) {
            assertThat(deleted).noneMatch(Lease::isValid);
            scheduler.advance(timeout.dividedBy(120));
        }
        assertThat(deleted).allMatch(each -> each.state() == LeaseState.LOST);
        assertThat(lease.isValid()).isTrue();
    }

    @Test
    @Tag("H08")
    void halfOfTheNodes_doesNotSpeakForTheOther() {
        Lease first = acquired("/locks/first");
        Lease second = acquired("/locks/second");
        Lease third = acquired("/locks/third");
        Duration timeout = operations.sessionTimeout();
        scheduler.advance(timeout);
        become(State.DISCONNECTED);
        scheduler.run();
        operations.removeUntold(nodeOf(first));
        operations.removeUntold(nodeOf(third));
        for (int divisor : new int[] {60, 60, 20}) { // of all, of the second, of the third
            operations.delayAnswerOf(ScriptedOperations.Request.MULTI, timeout.dividedBy(divisor));
        }
        become(State.CONNECTED);
        scheduler.advance(timeout.dividedBy(60).multipliedBy(3));
        assertThat(first.state()).isEqualTo(LeaseState.LOST);
        assertThat(List.of(lease, second, third)).noneMatch(Lease::isValid);
        scheduler.advance(timeout.dividedBy(20));
        assertThat(third.state()).isEqualTo(LeaseState.LOST);
        assertThat(List.of(lease, second)).allMatch(Lease::isValid);
    }

    @Test
    void poorProofAfterACheckThatFindsTheLastNodeGone_isRenewedToo() {
        Lease last = acquired("/locks/last");
        Duration period = operations.sessionTimeout().dividedBy(6);
        scheduler.advance(period.multipliedBy(10));
        operations.removeUntold(nodeOf(last));
        operations.delayAnswerOf(ScriptedOperations.Request.MULTI, period.multipliedBy(2));
        scheduler.advance(period.multipliedBy(3)); // the check after one of them, and its answer
        for (int i = 0; i < 30; i++) {
            assertThat(lease.state()).isEqualTo(LeaseState.HELD);
            scheduler.advance(period.dividedBy(10));
        }
        assertThat(last.ended()).isCompletedWithValue(LeaseState.LOST);
    }

    /** It is told on the engine thread, after what runs there already. */
    @Test
    void leaseLostInAStop_isReportedWithoutAnImmediateTimer() {
        scheduler.delays().clear();
        scheduler.stop(operations.sessionTimeout().multipliedBy(2));
        assertThat(lease.ended()).isCompletedWithValue(LeaseState.LOST);
        assertThat(scheduler.delays()).isNotEmpty().allMatch(delay -> delay.compareTo(Duration.ofMillis(1)) > 0);
    }

    /** What is asked for without a connection reaches the server before all checks of the next one. */
    @Test
    @Tag("H124")
    void verificationBegunWithoutAConnection_saysNothingOfOtherLeases() {
        Lease deleted = acquired("/locks/deleted");
        Duration timeout = operations.sessionTimeout();
        scheduler.advance(timeout);
        become(State.DISCONNECTED);
        scheduler.run();
        operations.removeUntold(nodeOf(deleted));
        operations.delayAnswerOf(ScriptedOperations.Request.MULTI, timeout.dividedBy(60));
        operations.delayAnswerOf(ScriptedOperations.Request.MULTI, timeout.dividedBy(6));
        scheduler.inTheWait = () -> {
            throw new IllegalStateException("nobody waits for the answer");
        };
        assertThatThrownBy(lease::verify).hasMessage("nobody waits for the answer");
        scheduler.advance(timeout.dividedBy(120));
        become(State.CONNECTED);
        for (int i = 0; i < 30; i++) {
            scheduler.advance(timeout.dividedBy(120));
            assertThat(deleted.isValid()).isFalse();
        }
        assertThat(lease.state()).isEqualTo(LeaseState.HELD);
        assertThat(deleted.state()).isEqualTo(LeaseState.LOST);
    }
}
