// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.WaitingScheduler;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an acquire and a release take with nobody else there: requests, tasks of the engine, waits of the caller. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a caller that is not granted spins
class CycleCostTest {
    private final WaitingScheduler scheduler = new WaitingScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler.engine);
    private final ZooKeeperClient client = Ports.clientBuilder(states -> operations, scheduler)
            .callbackExecutor(Runnable::run)
            .build();
    private final AtomicInteger waits = new AtomicInteger();

    @BeforeEach
    void begin() throws InterruptedException {
        for (int i = 0; i < 2; i++) {
            lock(LockOptions.defaults()).acquire().close(); // from the second time on, the queue is known
        }
        operations.requests();
        scheduler.inTheWait = waits::incrementAndGet;
    }

    private InterProcessLock lock(LockOptions options) {
        return new LockInternals(client, "/locks/orders", new MutexDriver(), options).threadOwned();
    }

    @Test
    void cycle_isTwoRequests_fourTasks_twoWaits_andNoTimer() throws InterruptedException {
        long tasks = scheduler.engine.tasks();
        int timers = scheduler.engine.delays().size();
        lock(LockOptions.defaults()).acquire().close();
        assertThat(operations.requests()).containsExactly(Request.CREATE, Request.DELETE);
        // Begin, and its answer; give back, and its answer.
        assertThat(scheduler.engine.tasks() - tasks).isEqualTo(4);
        assertThat(waits).hasValue(2);
        assertThat(scheduler.engine.delays()).hasSize(timers);
    }

    @Test
    void cycleInTheBackground_isTheSame_withOneWait() throws InterruptedException {
        long tasks = scheduler.engine.tasks();
        lock(LockOptions.defaults().withReleaseInBackground()).acquire().close();
        scheduler.engine.run();
        assertThat(operations.requests()).containsExactly(Request.CREATE, Request.DELETE);
        assertThat(scheduler.engine.tasks() - tasks).isEqualTo(4);
        assertThat(waits).hasValue(1);
    }
}
