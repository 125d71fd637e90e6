// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.NavigableSet;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tasks and alarms of one engine, one at a time and in time order: an alarm runs after the tasks that were
 * submitted before it fell due.
 *
 * <p><b>The runner.</b> One thread at a time is the runner. A thread that submits a task and finds no runner becomes
 * the runner, runs a few tasks for a short time, and steps down. This saves a thread switch in an acquire that need not
 * wait. The engine's own thread runs the remaining tasks, and the alarms when they fall due; otherwise it sleeps. No
 * task is forgotten: a submitting thread first adds the task and then looks for a runner, while a runner first steps
 * down and then looks for tasks. So at least one of the two sees the other. A wake-up that comes before the sleep ends
 * that sleep.
 *
 * <p><b>Failures.</b> Once a task has thrown, the pending tasks are dropped, because it may have left the state of the
 * engine half changed: see {@link #onFailure}. A thread that stores a throwable in the {@link #lastResort} has the same
 * effect.
 */
public final class EngineExecutor implements EngineScheduler {
    /**
     * One source for all clients. The ids of two processes must differ even if both processes started at the same
     * moment.
     */
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final AtomicReferenceFieldUpdater<EngineExecutor, @Nullable Thread> RUNNER =
            AtomicReferenceFieldUpdater.newUpdater(EngineExecutor.class, Thread.class, "runner");

    private static final long LONGEST_DELAY_NANOS = Long.MAX_VALUE / 2; // differences of times must not overflow
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1); // before a failed step is retried

    /**
     * The maximum number of tasks that a thread other than the engine's own runs in a row. Such a thread, for example
     * one that acquires a lock, has its own work to do.
     */
    private static final int MOST_BY_THE_WAY = 16;

    /** The time after which such a thread starts no more tasks, in case each of them takes long. */
    private static final long LONGEST_BY_THE_WAY_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final Queue<Task> tasks = new ConcurrentLinkedQueue<>();
    final NavigableSet<Alarm> alarms = new TreeSet<>(Alarm.ORDER); // used by the runner only
    private final AtomicLong alarmsSoFar = new AtomicLong(); // orders alarms that fall due at the same time
    private volatile @Nullable Thread runner; // null while nobody runs tasks
    private final Thread thread = EngineThreads.engine(this::runUntilClosed);
    private final boolean isOnItsThreadOnly; // whether no other thread may become the runner
    private final LongSupplier clock;
    private volatile long wakesAt; // when the sleep of the engine's own thread ends without a wake-up
    private volatile boolean closed;
    public final LastResort lastResort = new LastResort(this); // a failure stored here ends this executor
    private volatile Consumer<Throwable> onFailure = cause -> {}; // ends the client

    /** A task and the time at which it was submitted. Some tasks must run on the engine's own thread. */
    private record Task(Runnable body, long at, boolean isForOwnThread) {}

    /**
     * A scheduled task. Times of the monotonic clock may be negative and may overflow, so only their difference is
     * compared.
     */
    record Alarm(Runnable body, long at, long number) {
        static final Comparator<Alarm> ORDER = (one, other) ->
                one.at == other.at ? Long.compare(one.number, other.number) : Long.signum(one.at - other.at);
    }

    /**
     * Starts the engine's own thread. {@code isOnItsThreadOnly} confines all tasks to that thread. This is necessary if
     * a task calls user code that may wait for another thread: that thread may be the very one that has become the
     * runner and executes the task.
     */
    public EngineExecutor(boolean isOnItsThreadOnly) {
        this(isOnItsThreadOnly, System::nanoTime);
    }

    /** Creates an executor with a clock other than {@link System#nanoTime}, for tests that control the time. */
    public EngineExecutor(boolean isOnItsThreadOnly, LongSupplier clock) {
        this.isOnItsThreadOnly = isOnItsThreadOnly;
        this.clock = clock;
        this.wakesAt = clock.getAsLong();
        thread.start();
    }

    // ---- What any thread does.

    @Override
    public long nanoTime() {
        return clock.getAsLong();
    }

    @Override
    public Instant wallClock() {
        return Instant.now();
    }

    /**
     * Submits a task, and runs some tasks on the calling thread if no other thread is the runner. The engine's own
     * thread runs the rest.
     */
    @Override
    public void execute(Runnable task) {
        long begin = add(task, false);
        if (runner != null) {
            return; // the runner looks again when it steps down
        }
        Thread caller = Thread.currentThread();
        if (isOnItsThreadOnly || isVirtual(caller)) {
            LockSupport.unpark(thread);
            return;
        } else if (!RUNNER.compareAndSet(this, null, caller)) {
            return;
        }
        long next = wakesAt;
        try {
            int left = MOST_BY_THE_WAY;
            while (left > 0 && lastResort.thrown == null && runNext()) {
                left = clock.getAsLong() - begin < LONGEST_BY_THE_WAY_NANOS ? left - 1 : 0;
            }
            next = nextAlarm();
        } catch (Throwable t) {
            lastResort.thrown = t;
        }
        runner = null; // an assignment before any call: the caller may be at the end of its stack
        if (!tasks.isEmpty() || next - wakesAt < 0 || lastResort.thrown != null) {
            LockSupport.unpark(thread);
        }
    }

    /**
     * Whether this is a virtual thread. Such a thread does not become the runner: it may lose its carrier in the
     * middle of a task, and nobody could run tasks while other virtual threads keep all carriers busy. It is
     * recognised by its thread group, because the library also runs on JDKs without virtual threads.
     */
    private static boolean isVirtual(Thread thread) {
        ThreadGroup group = thread.getThreadGroup();
        return group != null && group.getName().equals("VirtualThreads");
    }

    @Override
    public void handOver(Runnable task) {
        add(task, true);
        if (runner == null) { // otherwise the runner looks again when it steps down
            LockSupport.unpark(thread);
        }
    }

    /**
     * Adds a task and returns the current time. After a failure, only the engine's own thread may still add tasks. If
     * memory or stack does not suffice to add the task, the executor fails: the submitting thread may have begun
     * something that only this task would finish.
     */
    @CanIgnoreReturnValue
    private long add(Runnable task, boolean isForOwnThread) {
        try {
            long now = clock.getAsLong();
            if (!closed && (lastResort.thrown == null || Thread.currentThread() == thread)) {
                tasks.add(new Task(task, now, isForOwnThread));
            }
            return now;
        } catch (Throwable t) {
            lastResort.thrown = t;
            LockSupport.unpark(thread);
            throw t;
        }
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        long nanos = Math.max(0, Math.min(TimeUnit.NANOSECONDS.convert(delay), LONGEST_DELAY_NANOS));
        Alarm alarm = new Alarm(task, clock.getAsLong() + nanos, alarmsSoFar.getAndIncrement());
        inOrder(() -> alarms.add(alarm));
        return () -> inOrder(() -> alarms.remove(alarm));
    }

    /**
     * Changes the alarms: at once on the engine thread, otherwise in a task, which preserves the order of the caller's
     * changes.
     */
    private void inOrder(Runnable change) {
        if (isEngineThread()) {
            change.run();
        } else {
            execute(change);
        }
    }

    /** Runs each task on a new thread. These tasks close handles, and a close may hang. */
    @Override
    public void executeBlocking(Runnable task) {
        EngineThreads.start("zkrecipes-close-", task);
    }

    /**
     * Parks the calling thread, which does nothing else meanwhile. On a thread of a ForkJoinPool,
     * {@link CompletableFuture#get()} would run other tasks of the pool, and such a task could request the lock for
     * which the thread waits.
     */
    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
        if (future.isDone()) {
            return true;
        }
        long nanos = TimeUnit.NANOSECONDS.convert(timeout);
        long begin = clock.getAsLong();
        Thread waiter = Thread.currentThread();
        var unused = future.whenComplete((value, error) -> LockSupport.unpark(waiter));
        while (!future.isDone()) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            long left = nanos - (clock.getAsLong() - begin);
            if (left <= 0) {
                return false;
            }
            LockSupport.parkNanos(future, left);
        }
        return true;
    }

    @Override
    public RandomGenerator random() {
        return RANDOM;
    }

    @Override
    public boolean isEngineThread() {
        return Thread.currentThread() == runner;
    }

    @Override
    public void onFailure(Consumer<Throwable> told) {
        onFailure = told;
    }

    @Override
    public void close() {
        handOver(this::end);
    }

    // ---- What the runner does.

    /** Runs the next task or alarm that the calling thread may run. Returns whether there was one. */
    private boolean runNext() {
        if (closed) {
            return false; // there may be a task that was being added while the executor ended
        }
        Task next = tasks.peek();
        Alarm first = alarms.isEmpty() ? null : alarms.first();
        if (first != null && first.at - (next == null ? clock.getAsLong() : next.at) <= 0) {
            alarms.remove(first);
            first.body.run();
            return true;
        } else if (next != null && (!next.isForOwnThread || Thread.currentThread() == thread)) {
            tasks.remove();
            next.body.run();
            return true;
        }
        return false;
    }

    /** Returns the time at which the engine's own thread has to wake; a distant time if no alarm is set. */
    private long nextAlarm() {
        return alarms.isEmpty() ? clock.getAsLong() + LONGEST_DELAY_NANOS : alarms.first().at;
    }

    private void end() {
        closed = true;
        tasks.clear();
        alarms.clear();
        LockSupport.unpark(thread);
    }

    // ---- What the engine's own thread does.

    /** The main loop of the engine's own thread: runs what is due, sleeps, and ends with the executor. */
    private void runUntilClosed() {
        while (!closed && lastResort.thrown == null) {
            if (RUNNER.compareAndSet(this, null, thread)) {
                runAllAndSleep();
            } else {
                wakesAt = clock.getAsLong() + RETRY_NANOS; // in case the runner fails to wake this thread
                if (runner != null) {
                    sleepUntil(wakesAt);
                }
            }
        }
        Throwable cause = lastResort.thrown;
        if (cause != null && !closed) {
            endBecauseOf(cause);
        }
    }

    /** Runs everything that is due, steps down, and sleeps until the next alarm or wake-up. */
    private void runAllAndSleep() {
        try {
            while (lastResort.thrown == null && runNext()) {}
            wakesAt = nextAlarm();
        } catch (Throwable t) {
            lastResort.thrown = t;
        }
        runner = null;
        if (tasks.isEmpty() && lastResort.thrown == null && !closed) {
            sleepUntil(wakesAt);
        }
    }

    private void sleepUntil(long time) {
        var unused = Thread.interrupted(); // an interrupt flag left behind by a task would end every sleep
        LockSupport.parkNanos(this, time - clock.getAsLong());
    }

    /**
     * Ends the client because a task has failed. If a step fails, for example because memory has run out, it is retried
     * until it succeeds: a client that ended halfway would keep its locks.
     */
    private void endBecauseOf(Throwable cause) {
        while (!RUNNER.compareAndSet(this, null, thread)) {
            LockSupport.parkNanos(this, 1); // the runner steps down after its current task
        }
        while (!closed) {
            try {
                tasks.clear();
                alarms.clear();
                onFailure.accept(cause);
                while (runNext()) {}
                closed = true;
            } catch (Throwable t) {
                LockSupport.parkNanos(this, RETRY_NANOS);
            }
        }
    }
}
