// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an acquire and a release take with nobody else there: requests, tasks of the engine, waits of the caller. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a caller that is not granted spins
class CycleCostTest extends ClientScene {
    private final AtomicInteger waits = new AtomicInteger();

    @BeforeEach
    void begin() throws InterruptedException {
        for (int i = 0; i < 2; i++) {
            lock("/locks/orders").acquire().close(); // from the second time on, the queue is known
        }
        operations.requests();
        scheduler.inTheWait = waits::incrementAndGet;
    }

    @Test
    void cycle_isTwoRequests_fourTasks_twoWaits_andNoTimer() throws InterruptedException {
        long tasks = scheduler.tasks();
        int timers = scheduler.delays().size();
        lock("/locks/orders").acquire().close();
        assertThat(operations.requests()).containsExactly(Request.CREATE, Request.DELETE);
        // Begin, and its answer; give back, and its answer.
        assertThat(scheduler.tasks() - tasks).isEqualTo(4);
        assertThat(waits).hasValue(2);
        assertThat(scheduler.delays()).hasSize(timers);
    }

    @Test
    void cycleInTheBackground_isTheSame_withOneWait() throws InterruptedException {
        long tasks = scheduler.tasks();
        lock("/locks/orders", LockOptions.defaults().withReleaseInBackground())
                .acquire()
                .close();
        scheduler.run();
        assertThat(operations.requests()).containsExactly(Request.CREATE, Request.DELETE);
        assertThat(scheduler.tasks() - tasks).isEqualTo(4);
        assertThat(waits).hasValue(1);
    }
}
