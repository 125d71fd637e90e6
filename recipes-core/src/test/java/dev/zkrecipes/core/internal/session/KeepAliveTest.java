// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.PortClientBuilder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class KeepAliveTest {
    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private Lease lease;

    @BeforeEach
    void acquire() throws Exception {
        ZooKeeperClient client = PortClientBuilder.on(states -> operations, scheduler)
                .callbackExecutor(Runnable::run)
                .build();
        CompletableFuture<Lease> wanted = new LockInternals(
                        client, "/locks/orders", new MutexDriver(), LockOptions.defaults())
                .threadOwned()
                .acquireAsync();
        scheduler.run();
        lease = wanted.get();
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
        operations.delayAnswerOf(ScriptedOperations.Request.MULTI, period.multipliedBy(2));
        scheduler.advance(period.multipliedBy(3));
        assertThat(operations.requests())
                .as("a late answer")
                .containsExactly(ScriptedOperations.Request.MULTI, ScriptedOperations.Request.MULTI);
        assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    }

    @Test
    @Tag("H08")
    void leaseHeldThroughAStop_isHeldAgainWithTheNextCheck() {
        Duration timeout = operations.sessionTimeout();
        scheduler.advance(timeout.multipliedBy(2));
        scheduler.stop(timeout.dividedBy(2));
        assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    }

    /** It is told on the engine thread, after what runs there already. */
    @Test
    void leaseLostInAStop_isReportedWithoutAnImmediateTimer() {
        scheduler.delays().clear();
        scheduler.stop(operations.sessionTimeout().multipliedBy(2));
        assertThat(lease.ended()).isCompletedWithValue(LeaseState.LOST);
        assertThat(scheduler.delays()).isNotEmpty().allMatch(delay -> delay.compareTo(Duration.ofMillis(1)) > 0);
    }
}
