// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import dev.zkrecipes.bench.contender.Cycle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class CrewTest {
    private static final Duration LONG = Duration.ofMinutes(5);

    private static Cycle cycle(Step acquire) {
        return () -> {
            acquire.run();
            return () -> {};
        };
    }

    private interface Step {
        void run() throws Exception;
    }

    @Test
    void cyclesOfTheWarmUp_areNotCounted() throws Exception {
        Semaphore cycles = new Semaphore(0);
        Crew crew = Crew.start(List.of(cycle(cycles::release)), 0);
        cycles.acquire(100);
        assertThat(crew.counted()).isZero();
        assertThat(crew.end(LONG)).isTrue();
        assertThat(crew.cycles()).isGreaterThanOrEqualTo(99);
    }

    @Test
    void countedCycles_areThoseOfAllThreads() throws Exception {
        Crew crew = Crew.start(List.of(cycle(() -> {}), cycle(() -> {}), cycle(() -> {})), 0);
        crew.count();
        await().until(() -> crew.counted() > 1_000);
        assertThat(crew.end(LONG)).isTrue();
        assertThat(crew.acquireNanos().getTotalCount()).isEqualTo(crew.counted());
    }

    @Test
    void cyclesAfterTheCount_areNotCounted() throws Exception {
        Semaphore allowed = new Semaphore(0);
        Semaphore begun = new Semaphore(0);
        Crew crew = Crew.start(
                List.of(cycle(() -> {
                    begun.release();
                    allowed.acquire();
                })),
                0);
        crew.count();
        allowed.release(5);
        begun.acquire(6);
        crew.stopCounting();
        allowed.release(5);
        begun.acquire(5);
        assertThat(crew.end(Duration.ofMillis(1))).isFalse(); // the eleventh waits
        assertThat(crew.counted()).isEqualTo(5);
        assertThat(crew.cycles()).isEqualTo(10);
    }

    @Test
    void cycleThatIsLate_countsFromWhenItWasDue() throws Exception {
        long every = Duration.ofMillis(1).toNanos();
        CountDownLatch first = new CountDownLatch(1);
        long begin = System.nanoTime();
        Crew crew = Crew.start(List.of(cycle(first::await)), every);
        crew.count();
        await().until(() -> System.nanoTime() - begin > 100 * every);
        first.countDown();
        await().until(() -> crew.counted() >= 3);
        assertThat(crew.end(LONG)).isTrue();
        assertThat(crew.acquireNanos().getMaxValue()).isGreaterThan(90 * every);
    }

    @Test
    void interruptionOfAWaitingThread_isNotAFailure() throws Exception {
        Semaphore waiting = new Semaphore(0);
        Cycle waits = cycle(() -> {
            waiting.release();
            new CountDownLatch(1).await();
        });
        Crew crew = Crew.start(List.of(waits, waits), 0);
        waiting.acquire(2);
        assertThat(crew.end(Duration.ofMillis(1))).isFalse();
        crew.check();
    }

    @Test
    void failure_isReported() {
        Crew crew = Crew.start(
                List.of(cycle(() -> {
                    throw new IllegalArgumentException("no such lock");
                })),
                0);
        await().untilAsserted(() ->
                assertThatIllegalStateException().isThrownBy(crew::check).withMessageContaining("no such lock"));
    }
}
