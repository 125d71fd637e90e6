// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.explore.sim.Simulation.Event;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The engine thread and the clock of one simulated process. The process can be paused, as by a long garbage collection
 * or by SIGSTOP: nothing runs in it then, but its clock advances. Not thread-safe.
 */
public final class SimulatedScheduler implements EngineScheduler {
    private final Simulation simulation;
    private final Consumer<Throwable> onFailure;
    private final RandomGenerator random;
    private final Deque<Runnable> heldUp = new ArrayDeque<>(); // actions that became due during a pause
    private int timers;
    private long pausedUntil;
    private long lastTask; // the time at which the latest task runs
    private boolean running;
    private boolean closed;

    /**
     * Creates the scheduler of a process.
     *
     * @param simulation the simulation of which it is a part
     * @param seed the seed of its ids, different from the seeds of all other processes
     * @param onFailure receives what an engine task throws, which is always a defect
     */
    public SimulatedScheduler(Simulation simulation, long seed, Consumer<Throwable> onFailure) {
        this.simulation = Objects.requireNonNull(simulation, "simulation");
        this.random = new SplittableRandom(seed);
        this.onFailure = Objects.requireNonNull(onFailure, "onFailure");
    }

    /**
     * Pauses the process for a while.
     *
     * @param time how long it is paused
     */
    public void pause(Duration time) {
        pausedUntil = Math.max(pausedUntil, simulation.now() + time.toNanos());
    }

    /** {@return whether the process is paused now} */
    public boolean isPaused() {
        return simulation.now() < pausedUntil;
    }

    /**
     * {@return whether the process has been paused at any time since then}
     *
     * @param time a time of {@link #nanoTime}
     */
    public boolean wasPausedSince(long time) {
        return pausedUntil > time;
    }

    /** {@return the number of pending timers} */
    public int timers() {
        return closed ? 0 : timers;
    }

    /**
     * Schedules an action of the application in this process, outside of the engine.
     *
     * @param delay the time from now; if the process is paused then, the action happens when it continues
     * @param body the action
     */
    public void after(Duration delay, Runnable body) {
        planHere(simulation.now() + delay.toNanos(), body);
    }

    /**
     * Lets all other events happen for a while, as if a thread of the process slept.
     *
     * @param time how long to sleep; if the process is paused at the end of this time, sleeps until it continues
     */
    public void sleep(Duration time) {
        simulation.passUntil(simulation.now() + time.toNanos());
        simulation.passUntil(Math.max(pausedUntil, simulation.now()));
    }

    /** Plans an action in this process, at this time or when the process continues after a pause, in order. */
    Event planHere(long at, Runnable body) {
        return simulation.plan(at, () -> {
            if (isPaused() || !heldUp.isEmpty()) {
                holdUp(body);
            } else {
                body.run();
            }
        });
    }

    private void holdUp(Runnable body) {
        if (heldUp.isEmpty()) {
            simulation.plan(pausedUntil, this::goOn);
        }
        heldUp.add(body);
    }

    private void goOn() {
        if (isPaused()) {
            simulation.plan(pausedUntil, this::goOn);
            return;
        }
        Runnable next = heldUp.element();
        if (heldUp.size() > 1) {
            simulation.plan(simulation.now(), this::goOn);
        }
        // Removed only now, so that what the action plans for this very moment happens after all actions that were held
        // up.
        heldUp.remove();
        next.run();
    }

    @Override
    public long nanoTime() {
        return simulation.now();
    }

    @Override
    public Instant wallClock() {
        return Instant.EPOCH.plusNanos(simulation.now());
    }

    /**
     * Plans a task to run now, or occasionally a little later as on a busy thread, but always after the tasks before
     * it.
     */
    @Override
    public void execute(Runnable task) {
        long late = simulation.choices().chance(20) ? simulation.lag() : 0;
        lastTask = Math.max(lastTask, simulation.now() + late);
        planHere(lastTask, () -> run(task));
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        Alarm alarm = new Alarm(task);
        timers++;
        alarm.event = planHere(simulation.now() + delay.toNanos(), alarm);
        return alarm;
    }

    private final class Alarm implements Timer, Runnable {
        private final Runnable task;
        private @Nullable Event event;
        private boolean over;

        Alarm(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            if (!over) {
                cancel();
                SimulatedScheduler.this.run(task);
            }
        }

        @Override
        public void cancel() {
            if (!over) {
                over = true;
                timers--;
                if (event != null) {
                    event.cancel();
                }
            }
        }
    }

    private void run(Runnable task) {
        if (closed) {
            return;
        }
        boolean outer = running;
        running = true;
        try {
            task.run();
        } catch (Throwable t) {
            onFailure.accept(t);
        } finally {
            running = outer;
        }
    }

    @Override
    public void executeBlocking(Runnable task) {
        planHere(simulation.now() + simulation.lag(), task);
    }

    /** Lets all other events happen while it waits. */
    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
        long end = simulation.now() + Math.min(timeout.toNanos(), Long.MAX_VALUE / 2);
        while (!future.isDone()) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (!simulation.step(end)) {
                simulation.passUntil(
                        Math.min(end, simulation.now() + Duration.ofDays(1).toNanos()));
                return future.isDone();
            }
        }
        if (isPaused()) {
            simulation.passUntil(pausedUntil);
        }
        return true;
    }

    @Override
    public RandomGenerator random() {
        return random;
    }

    @Override
    public boolean isEngineThread() {
        return running;
    }

    @Override
    public void close() {
        simulation.plan(Math.max(lastTask, simulation.now()), () -> closed = true);
    }
}
