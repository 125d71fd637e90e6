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
 * Runs tasks and alarms one at a time, in the order of time: an alarm waits for those tasks that were given before it
 * fell due.
 *
 * <p>One thread at a time is the runner. A thread that gives a task and finds no runner becomes it, runs a few tasks
 * for a short time, and steps down. What it leaves, and what falls due later, the engine's own thread runs, which
 * otherwise sleeps. Whoever gives a task first adds it and then looks for a runner; whoever steps down first does so
 * and then looks for tasks: so one of the two sees the other. A wake-up that comes before the sleep ends that sleep.
 *
 * <p>The first task that throws is the last: see {@link #onFailure}. So does anybody who leaves what was thrown in the
 * {@link #lastResort}.
 */
public final class EngineExecutor implements EngineScheduler {
    /** One for all clients: ids of two processes must differ even if both started at the same moment. */
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final AtomicReferenceFieldUpdater<EngineExecutor, @Nullable Thread> RUNNER =
            AtomicReferenceFieldUpdater.newUpdater(EngineExecutor.class, Thread.class, "runner");

    private static final long LONGEST_DELAY_NANOS = Long.MAX_VALUE / 2;
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** How many tasks a thread runs on its way: it has more to do than that. */
    private static final int MOST_BY_THE_WAY = 16;

    /** For how long it does so, if tasks take long; the one that it has begun then is its last. */
    private static final long LONGEST_BY_THE_WAY_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final Queue<Task> tasks = new ConcurrentLinkedQueue<>();
    final NavigableSet<Alarm> alarms = new TreeSet<>(Alarm.ORDER); // the runner's
    private final AtomicLong alarmsSoFar = new AtomicLong();
    private volatile @Nullable Thread runner;
    private final Thread thread = EngineThreads.engine(this::runUntilClosed);
    private final boolean isOnItsThreadOnly;
    private final LongSupplier clock;
    private volatile long wakesAt; // when the engine's thread ends its sleep by itself
    private volatile boolean closed;
    public final LastResort lastResort = new LastResort(); // what it ends of
    private volatile Consumer<Throwable> onFailure = cause -> {};

    private record Task(Runnable body, long at, boolean isForOwnThread) {}

    record Alarm(Runnable body, long at, long number) {
        static final Comparator<Alarm> ORDER = (one, other) ->
                one.at == other.at ? Long.compare(one.number, other.number) : Long.signum(one.at - other.at);
    }

    /**
     * Starts the engine's thread. If user code that a task calls could wait for what another thread has to do, tasks
     * run on that thread only.
     */
    public EngineExecutor(boolean isOnItsThreadOnly) {
        this(isOnItsThreadOnly, System::nanoTime);
    }

    /** One that goes by another clock than {@link System#nanoTime}. */
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

    /** Also runs some tasks, if nobody does: the caller has more to do than that, so it leaves the others. */
    @Override
    public void execute(Runnable task) {
        long begin = add(task, false);
        if (runner != null) {
            return; // who steps down looks again
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
        runner = null; // no call before it: what was thrown may be the end of the stack
        if (!tasks.isEmpty() || next - wakesAt < 0 || lastResort.thrown != null) {
            LockSupport.unpark(thread);
        }
    }

    /** A virtual thread may lose its carrier in the middle of a task, for as long as others keep the carriers busy. */
    private static boolean isVirtual(Thread thread) {
        ThreadGroup group = thread.getThreadGroup();
        return group != null && group.getName().equals("VirtualThreads");
    }

    @Override
    public void handOver(Runnable task) {
        add(task, true);
        if (runner == null) { // otherwise the runner looks again
            LockSupport.unpark(thread);
        }
    }

    /** A task that cannot be given is one that fails: what its giver has begun may stay half done. Returns the time. */
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

    private void inOrder(Runnable change) {
        if (isEngineThread()) {
            change.run();
        } else {
            execute(change);
        }
    }

    @Override
    public void executeBlocking(Runnable task) {
        EngineThreads.start("zkrecipes-close-", task);
    }

    /**
     * Parks, and does nothing else: {@link CompletableFuture#get()} would run other tasks on a thread of a
     * ForkJoinPool.
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

    /** Runs a task or an alarm, if there is one for this thread. */
    private boolean runNext() {
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

    private void runUntilClosed() {
        while (!closed && lastResort.thrown == null) {
            if (RUNNER.compareAndSet(this, null, thread)) {
                runAllAndSleep();
            } else {
                wakesAt = clock.getAsLong() + RETRY_NANOS; // the runner wakes this thread for what it leaves, if it can
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
        var unused = Thread.interrupted(); // a flag that a task has left would end every sleep
        LockSupport.parkNanos(this, time - clock.getAsLong());
    }

    /** What cannot be done now, for want of memory say, is done as soon as it can be. */
    private void endBecauseOf(Throwable cause) {
        while (!RUNNER.compareAndSet(this, null, thread)) {
            LockSupport.parkNanos(this, 1); // the runner has no more than this task to do
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
