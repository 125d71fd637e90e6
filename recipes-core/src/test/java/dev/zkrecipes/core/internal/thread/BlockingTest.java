// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How a thread waits for the engine. */
@Timeout(600)
@Tag("H118")
class BlockingTest {
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final Duration LONG = Duration.ofHours(1);

    private final EngineExecutor engine = new EngineExecutor(true);
    private final CompletableFuture<String> future = new CompletableFuture<>();

    @AfterEach
    void end() {
        var unused = Thread.interrupted();
        engine.close();
    }

    /** Runs the action when this thread is parked. */
    private static void onceParked(Runnable action) {
        Thread waiter = Thread.currentThread();
        new Thread(() -> {
                    while (waiter.getState() != Thread.State.TIMED_WAITING) {
                        LockSupport.parkNanos(SHORT.toNanos());
                    }
                    action.run();
                })
                .start();
    }

    private Deadline in(Duration time) {
        return Deadline.after(time, engine);
    }

    @Test
    void wait_endsWithTheFuture() throws InterruptedException {
        onceParked(() -> future.complete("value"));
        assertThat(Blocking.await(future, engine)).isEqualTo("value");
        assertThat(Blocking.await(future, in(Duration.ZERO))).contains("value");
    }

    @Test
    void wakeUpForNothing_doesNotEndTheWait() throws InterruptedException {
        long begin = System.nanoTime();
        LockSupport.unpark(Thread.currentThread());
        assertThat(Blocking.await(future, in(SHORT))).isEmpty();
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(SHORT.toNanos());
    }

    @Test
    void interruption_endsTheWait_andTakesTheFlag() {
        Thread waiter = Thread.currentThread();
        onceParked(waiter::interrupt);
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> Blocking.await(future, in(LONG)));
        assertThat(Thread.interrupted()).isFalse();
        waiter.interrupt();
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> Blocking.await(future, in(LONG)));
    }

    @Test
    void futureThatHasEnded_isWorthMoreThanAnInterruption() throws InterruptedException {
        future.complete("value");
        Thread.currentThread().interrupt();
        assertThat(Blocking.await(future, in(LONG))).contains("value");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void failure_isThrownAsItIs() {
        LockException failure = new LockConnectionException("told");
        onceParked(() -> future.completeExceptionally(failure));
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> Blocking.awaitAgain(future, in(LONG)))
                .isSameAs(failure);
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> Blocking.await(future, in(LONG)))
                .isSameAs(failure);
    }

    @Test
    void cancellation_isThrownAsItIs() {
        future.cancel(false);
        assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> Blocking.awaitAgain(future, in(LONG)));
        assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> Blocking.await(future, in(LONG)));
    }

    @Test
    void manyWaits_leaveNothingInTheFuture() throws InterruptedException {
        for (int i = 0; i < 1_000; i++) {
            assertThat(Blocking.awaitAgain(future, in(Duration.ZERO))).isEmpty();
        }
        assertThat(future.getNumberOfDependents()).isZero();
    }
}
