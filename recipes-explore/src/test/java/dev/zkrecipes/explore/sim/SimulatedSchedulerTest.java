// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class SimulatedSchedulerTest {
    private final Simulation simulation = new Simulation(Choices.replay(new int[0]));
    private final List<Throwable> failures = new ArrayList<>();
    private final SimulatedScheduler scheduler = new SimulatedScheduler(simulation, 1, failures::add);
    private final List<String> done = new ArrayList<>();

    private void pass(long millis) {
        simulation.passUntil(simulation.now() + Duration.ofMillis(millis).toNanos());
    }

    private Timer schedule(long millis, String what) {
        return scheduler.schedule(Duration.ofMillis(millis), () -> done.add(what));
    }

    @Test
    void tasks_runInOrderAndTimersWhenTheyAreDue() {
        Timer late = schedule(20, "late");
        Timer early = schedule(10, "early");
        scheduler.execute(() -> done.add("first"));
        scheduler.execute(() -> done.add("second"));
        pass(15);
        assertThat(done).containsExactly("first", "second", "early");
        assertThat(scheduler.timers()).isEqualTo(1);
        early.cancel(); // has no effect any more
        late.cancel();
        pass(15);
        assertThat(done).doesNotContain("late");
        assertThat(scheduler.timers()).isZero();
    }

    @Test
    void pausedProcess_doesNothing_thenEverythingInOrder() {
        Timer cancelled = schedule(1, "cancelled");
        schedule(2, "timer");
        scheduler.pause(Duration.ofMillis(10));
        pass(3);
        scheduler.execute(() -> done.add("task"));
        pass(2);
        scheduler.pause(Duration.ofMillis(20));
        schedule(1, "in the second pause");
        pass(19);
        assertThat(done).isEmpty();
        assertThat(scheduler.isPaused()).isTrue();
        cancelled.cancel();
        pass(2);
        assertThat(done).containsExactly("timer", "task", "in the second pause");
        assertThat(scheduler.isPaused()).isFalse();
    }

    @Test
    void waitingThread_letsEverythingElseHappen_untilItsTimeout() throws InterruptedException {
        CompletableFuture<Boolean> future = new CompletableFuture<>();
        Timer end = scheduler.schedule(Duration.ofMillis(5), () -> future.complete(true));
        long start = simulation.now();
        assertThat(scheduler.await(future, Duration.ofMillis(3))).isFalse();
        assertThat(simulation.now() - start).isEqualTo(Duration.ofMillis(3).toNanos());
        assertThat(scheduler.await(future, Duration.ofMillis(3))).isTrue();
        assertThat(simulation.now() - start).isEqualTo(Duration.ofMillis(5).toNanos());
        end.cancel();
    }

    @Test
    void waitingThread_canBeInterrupted() {
        simulation.after(Duration.ofMillis(1), Thread.currentThread()::interrupt);
        CompletableFuture<Void> never = new CompletableFuture<>();
        assertThatThrownBy(() -> scheduler.await(never, Duration.ofMillis(3))).isInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void engineThread_runsTasks_andReportsTheirFailures() {
        scheduler.execute(() -> done.add("engine " + scheduler.isEngineThread()));
        scheduler.execute(() -> {
            throw new IllegalStateException("a defect");
        });
        scheduler.after(Duration.ofMillis(1), () -> done.add("user " + !scheduler.isEngineThread()));
        pass(2);
        assertThat(done).containsExactly("engine true", "user true");
        assertThat(failures).singleElement().isInstanceOf(IllegalStateException.class);
    }

    @Test
    void closedScheduler_runsEarlierTasks() {
        scheduler.execute(() -> done.add("before"));
        schedule(5, "timer");
        scheduler.close();
        pass(1);
        scheduler.execute(() -> done.add("after"));
        pass(10);
        assertThat(done).containsExactly("before");
        assertThat(scheduler.timers()).isZero();
    }
}
