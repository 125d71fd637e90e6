// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class CrewTest {
    private static final Cycle NOTHING = cycle(() -> {});

    private static Workload workload(IntFunction<Cycle> cycles) {
        return new Workload(cycles, List.of());
    }

    private static Cycle cycle(Step acquire) {
        return new Cycle() {
            @Override
            public void acquire() throws InterruptedException {
                acquire.run();
            }

            @Override
            public void release() {}
        };
    }

    private interface Step {
        void run() throws InterruptedException;
    }

    @Test
    void cyclesOfTheWarmUp_areNotCounted() throws Exception {
        Semaphore cycles = new Semaphore(0);
        Crew crew = new Crew(workload(thread -> cycle(cycles::release)), 1);
        crew.start();
        cycles.acquire(100);
        assertThat(crew.counted()).isZero();
        crew.end();
    }

    @Test
    void cyclesWhileItCounts_areCounted_ofAllThreads() throws Exception {
        Crew crew = new Crew(workload(thread -> NOTHING), 3);
        crew.start();
        crew.count();
        await().until(() -> crew.counted() > 1_000);
        crew.end();
        assertThat(crew.medianAcquireNanos()).isNotNegative();
    }

    @Test
    void afterTheCount_nothingIsCounted() throws Exception {
        Semaphore allowed = new Semaphore(5);
        Crew crew = new Crew(workload(thread -> cycle(allowed::acquire)), 1);
        crew.count();
        crew.start();
        await().until(() -> crew.counted() == 5);
        crew.stopCounting();
        allowed.release();
        crew.end();
        assertThat(crew.counted()).isEqualTo(5);
    }

    @Test
    void interruptionOfAWaitingWorker_isNotAFailure() throws Exception {
        Semaphore waiting = new Semaphore(0);
        Crew crew = new Crew(
                workload(thread -> cycle(() -> {
                    waiting.release();
                    new CountDownLatch(1).await();
                })),
                2);
        crew.start();
        waiting.acquire(2);
        crew.end();
        crew.check();
    }

    @Test
    void failureBeforeTheEnd_isReported() {
        Crew crew = new Crew(
                workload(thread -> cycle(() -> {
                    throw new IllegalArgumentException("no such lock");
                })),
                1);
        crew.start();
        await().untilAsserted(() ->
                assertThatIllegalStateException().isThrownBy(crew::check).withMessageContaining("no such lock"));
    }
}
