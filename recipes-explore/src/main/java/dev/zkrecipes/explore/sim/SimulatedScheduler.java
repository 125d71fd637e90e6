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
 * The engine thread and clock of one simulated process. The process can be paused, as by a long garbage collection or
 * SIGSTOP: nothing runs in it then, while the clock continues. Not thread-safe.
 */
public final class SimulatedScheduler implements EngineScheduler {
    private final Simulation simulation;
    private final Consumer<Throwable> onFailure;
    private final RandomGenerator random;
    private final Deque<Runnable> heldUp = new ArrayDeque<>();
    private int timers;
    private long pausedUntil;
    private long lastTask;
    private boolean running;
    private boolean closed;

    /**
     * A process of its own.
     *
     * @param simulation what it is part of
     * @param seed of its ids, which must differ from those of all other processes
     * @param onFailure told what an engine task throws, which is always a defect
     */
    public SimulatedScheduler(Simulation simulation, long seed, Consumer<Throwable> onFailure) {
        this.simulation = Objects.requireNonNull(simulation, "simulation");
        this.random = new SplittableRandom(seed);
        this.onFailure = Objects.requireNonNull(onFailure, "onFailure");
    }

    /**
     * Stops the process for a while.
     *
     * @param time how long
     */
    public void pause(Duration time) {
        pausedUntil = Math.max(pausedUntil, simulation.now() + time.toNanos());
    }

    /** {@return whether the process is stopped now} */
    public boolean isPaused() {
        return simulation.now() < pausedUntil;
    }

    /**
     * {@return whether the process was stopped at any time since then}
     *
     * @param time as {@link #nanoTime} tells it
     */
    public boolean wasPausedSince(long time) {
        return pausedUntil > time;
    }

    /** {@return how many timers are set} */
    public int timers() {
        return closed ? 0 : timers;
    }

    /**
     * Schedules something that its user does in this process, outside of the engine.
     *
     * @param delay how long from now; if the process is stopped then, when it continues
     * @param body what happens
     */
    public void after(Duration delay, Runnable body) {
        planHere(simulation.now() + delay.toNanos(), body);
    }

    /**
     * Lets everything else happen for a while, as a thread of the process sleeps.
     *
     * @param time how long, or until the process continues after a pause
     */
    public void sleep(Duration time) {
        simulation.passUntil(simulation.now() + time.toNanos());
        simulation.passUntil(Math.max(pausedUntil, simulation.now()));
    }

    /** Something that happens in this process at that time, or when it continues after a pause, in order. */
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
        // Only now: what it plans for this very moment comes after all that is held up.
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

    /** In order; occasionally the thread is late. */
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

    /** Lets everything else happen meanwhile. */
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
