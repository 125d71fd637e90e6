// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The engine's thread and clock in the hands of a test: the thread that calls {@link #run} is the engine's. */
public final class ManualScheduler implements EngineScheduler {
    /** More tasks than any test has ready at one moment of its clock. */
    private static final int ENDLESS = 100_000;

    private static final Duration LONGEST_WAIT = Duration.ofHours(1);

    /** What happens in each wait of a thread for the engine, once the engine has run. */
    public Runnable inTheWait = () -> {};

    /** What happens whenever somebody asks for a random number. */
    public Runnable uponRandom = () -> {};

    /** What happens whenever somebody looks at the monotonic clock. */
    public Runnable uponTime = () -> {};

    /** The time of day, which stands still while time passes. */
    public Supplier<Instant> wallClock = () -> Instant.EPOCH;

    private final Deque<Runnable> ready = new ArrayDeque<>();
    private final PriorityQueue<Scheduled> later =
            new PriorityQueue<>(Comparator.comparingLong(Scheduled::at).thenComparingLong(Scheduled::number));
    private final List<Duration> delays = new ArrayList<>();
    private final Random random = new Random(1);
    private long now;
    private long scheduledSoFar;
    private long tasks;
    private boolean running;
    private boolean hasThreads = true;
    private boolean refusesNext;
    private boolean refusesNextTimer;

    private @Nullable Consumer<Throwable> onFailure;
    private @Nullable Throwable failure;
    private @Nullable Failure playedKind;
    private int playedIn;

    private record Scheduled(long at, long number, Runnable task) {}

    /** Runs what is ready, until nothing is. Fails if that has no end. */
    public void run() {
        running = true;
        for (int played = 0; !ready.isEmpty(); played++) {
            if (played == ENDLESS) {
                throw new AssertionError("each of " + ENDLESS + " tasks made another one ready");
            }
            play(ready.remove());
        }
        running = false;
    }

    private void play(Runnable task) {
        try {
            tasks++;
            failIf(Failure.BEFORE_A_TASK);
            task.run();
            failIf(Failure.AFTER_A_TASK);
        } catch (Throwable t) {
            if (onFailure == null) {
                throw t;
            }
            fail(t);
        }
    }

    private void failIf(Failure kind) {
        if (kind == playedKind && --playedIn == 0) {
            throw new InternalError("played: an error of the engine");
        }
    }

    /** As the real one does it. */
    private void fail(Throwable cause) {
        if (failure == null) {
            failure = cause;
            ready.clear();
            later.clear();
            ready.add(() -> tell(cause));
        }
    }

    private void tell(Throwable cause) {
        try {
            Objects.requireNonNull(onFailure).accept(cause);
        } catch (VirtualMachineError e) {
            schedule(Duration.ofSeconds(1), () -> tell(cause));
        }
    }

    /** An error where the engine uses this. */
    public enum Failure {
        BEFORE_A_TASK,
        AFTER_A_TASK,
        /** A task or an alarm cannot be taken. */
        GIVING_A_TASK
    }

    /** Plays an error, from now on the n-th time that there is a chance of that kind. */
    public void failAt(Failure kind, int n) {
        playedKind = kind;
        playedIn = n;
    }

    /** What has ended it. */
    public Optional<Throwable> failure() {
        return Optional.ofNullable(failure);
    }

    @Override
    public void onFailure(Consumer<Throwable> told) {
        onFailure = told;
    }

    /** Lets time pass and runs what falls due, in order, before the tasks that it gives, as the real one does it. */
    public void advance(Duration time) {
        advance(time, () -> false);
    }

    private void advance(Duration time, BooleanSupplier enough) {
        long end = now + time.toNanos();
        run();
        while (!enough.getAsBoolean()) {
            if (later.isEmpty() || later.element().at() > end) {
                now = end;
                return;
            }
            now = Math.max(now, later.element().at());
            running = true;
            while (!later.isEmpty() && later.element().at() <= now) {
                play(later.remove().task());
            }
            run();
        }
    }

    /** Lets time pass that the engine does not notice until it runs again. */
    public void skip(Duration time) {
        now += time.toNanos();
    }

    /** Lets time pass while nothing runs, as for a process that is stopped; what was due runs after it. */
    public void stop(Duration time) {
        skip(time);
        advance(Duration.ZERO);
    }

    /** The next task is not taken. */
    public void refuseNextTask() {
        refusesNext = true;
    }

    /** The next timer is not set. */
    public void refuseNextTimer() {
        refusesNextTimer = true;
    }

    /** From now on nothing can run beside the engine, or it can again. */
    public void allowThreads(boolean allowed) {
        hasThreads = allowed;
    }

    /** How many were run. */
    public long tasks() {
        return tasks;
    }

    /** Whether something is ready to run. */
    public boolean hasTasks() {
        return !ready.isEmpty();
    }

    public int timers() {
        return later.size();
    }

    /** Of all timers that were ever set. */
    public List<Duration> delays() {
        return delays;
    }

    @Override
    public long nanoTime() {
        uponTime.run();
        return now;
    }

    @Override
    public Instant wallClock() {
        return wallClock.get();
    }

    @Override
    public void execute(Runnable task) {
        if (refusesNext) {
            refusesNext = false;
            throw new InternalError("played: no memory for a task");
        }
        give(() -> ready.add(task));
    }

    private void give(Runnable giving) {
        try {
            failIf(Failure.GIVING_A_TASK);
        } catch (InternalError e) {
            fail(e);
            throw e;
        }
        giving.run();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        if (refusesNextTimer) {
            refusesNextTimer = false;
            throw new InternalError("played: no memory for a timer");
        }
        Scheduled scheduled = new Scheduled(now + delay.toNanos(), scheduledSoFar++, task);
        give(() -> later.add(scheduled));
        delays.add(delay);
        return () -> later.remove(scheduled);
    }

    @Override
    public void executeBlocking(Runnable task) {
        if (!hasThreads) {
            throw new InternalError("played: no memory for a thread");
        }
        task.run();
    }

    /** Lets the engine run while the caller waits, and then time pass: an hour at most, as some would wait forever. */
    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) {
        run();
        inTheWait.run();
        advance(timeout.compareTo(LONGEST_WAIT) < 0 ? timeout : LONGEST_WAIT, future::isDone);
        return future.isDone();
    }

    @Override
    public RandomGenerator random() {
        uponRandom.run();
        return random;
    }

    @Override
    public boolean isEngineThread() {
        return running;
    }

    @Override
    public void close() {
        ready.clear();
        later.clear();
    }
}
