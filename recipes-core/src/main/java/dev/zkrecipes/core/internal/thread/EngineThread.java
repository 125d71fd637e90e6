// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The real thread and the real clocks.
 *
 * <p>Threads that give a task share nothing with the engine but its {@link Inbox} and a few flags. They take no lock,
 * so wherever an Error ends one of them, the others continue. A StackOverflowError or OutOfMemoryError out of {@link
 * #execute} means that the task was not given. A thread that is stopped after its task is in and before the engine is
 * woken delays that task until the next one is given, by {@link #LONGEST_SLEEP_NANOS} at most.
 *
 * <p>Tasks and alarms run in the order of time: an alarm waits for those tasks that were given before it fell due.
 *
 * <p>One thread at a time is the runner, which owns the tasks and the alarms. That is the engine's own thread, or one
 * that {@link #deliver delivers} a task while there is no runner. A thread that gives a task leaves the wake-up to the
 * runner, if there is one: a runner looks for new tasks when it has stepped down.
 */
public final class EngineThread implements EngineScheduler {
    /** One for all clients: ids of two processes must differ even if both started at the same moment. */
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final long LONGEST_SLEEP_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long LONGEST_DELAY_NANOS = Long.MAX_VALUE / 2;

    /** How many tasks a thread runs to get to the one that it delivers: it has more to do than that. */
    private static final int MOST_FOR_A_DELIVERY = 16;

    private final Inbox inbox = new Inbox();
    private final Thread thread = EngineThreads.engine(this::runUntilClosed);
    private final long longestSleepNanos;
    private final AtomicReference<@Nullable Thread> runner = new AtomicReference<>();
    private volatile boolean begun;
    private volatile boolean asleep;
    private volatile boolean turnedAway; // by another runner, which wakes it afterwards
    private volatile boolean over;

    // The runner's.
    private final TimerHeap timers = new TimerHeap();
    private Inbox.@Nullable Entry taken; // the oldest of those that are out of the inbox
    private long wakesAt; // when the engine's thread ends its sleep by itself

    public EngineThread() {
        this(LONGEST_SLEEP_NANOS);
    }

    EngineThread(long longestSleepNanos) {
        this.longestSleepNanos = longestSleepNanos;
        LockSupport.unpark(thread); // links the call, so that later ones need neither memory nor much of a stack
    }

    // ---- What any thread does.

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Instant wallClock() {
        return Instant.now();
    }

    @Override
    public void execute(Runnable task) {
        give(new Inbox.Entry(task, nanoTime()));
    }

    private void give(Inbox.Entry entry) {
        if (!begun) {
            begin();
        }
        requireStack();
        try {
            inbox.add(entry);
        } finally {
            // Any thread that finds the engine asleep wakes it: the one that should have done so may be dead.
            if (asleep && runner.get() == null) {
                LockSupport.unpark(thread);
            }
        }
    }

    @Override
    public void deliver(Runnable task) {
        if (begun && runner.compareAndSet(null, Thread.currentThread())) {
            try {
                Inbox.Entry delivered = new Inbox.Entry(task, nanoTime());
                inbox.add(delivered);
                runUpTo(delivered);
            } finally {
                stepDown();
            }
        } else {
            execute(task);
        }
    }

    /** Not what comes of it: tasks that are to run when others have run would be run too early, and too often. */
    private void runUpTo(Inbox.Entry last) {
        try {
            for (int left = MOST_FOR_A_DELIVERY; left > 0 && !last.isTaken() && runNext(); left--) {}
        } catch (Throwable t) {
            // Not even the log could be written. The engine's thread runs what is left.
        }
    }

    /** Wakes the engine's thread for what is left. */
    private void stepDown() {
        boolean hasMore = true;
        try {
            hasMore = taken != null || timers.isAnyDue(wakesAt);
            var unused = Thread.interrupted(); // a flag that a task has left would end ZooKeeper's thread
        } finally {
            runner.set(null);
            if (hasMore || turnedAway || !inbox.isEmpty()) {
                LockSupport.unpark(thread);
            }
        }
    }

    /** If the next one does not come after all, the engine finds the task when it has slept. */
    @Override
    public void executeWithNext(Runnable task) {
        requireStack();
        inbox.add(new Inbox.Entry(task, nanoTime()));
    }

    private void requireStack() {
        if (!isEngineThread()) { // whose stack is near its beginning
            StackReserve.requireForATask();
        }
    }

    /** The thread itself knows whether it was started: a flag of ours would stay set if the start failed. */
    private void begin() {
        if (thread.getState() == Thread.State.NEW) {
            try {
                thread.start();
            } catch (IllegalThreadStateException e) {
                // Another thread was first.
            }
        }
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        long nanos = Math.max(0, Math.min(Deadline.saturatedNanos(delay), LONGEST_DELAY_NANOS));
        TimerHeap.Alarm alarm = new TimerHeap.Alarm(task, nanoTime() + nanos);
        Timer timer = () -> inOrder(() -> timers.remove(alarm)); // made first: without memory for it there is no alarm
        inOrder(() -> timers.add(alarm));
        return timer;
    }

    /** Runs a change of the timers at once on the engine thread, and as a task if the caller is another. */
    private void inOrder(Runnable change) {
        if (isEngineThread()) {
            StackReserve.requireForATask();
            change.run();
        } else {
            execute(change);
        }
    }

    @Override
    public void executeBlocking(Runnable task) {
        EngineThreads.closing(task);
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
        long nanos = Deadline.saturatedNanos(timeout);
        long begin = nanoTime();
        var unused = future.handle(new WakeUp(Thread.currentThread()));
        while (!future.isDone()) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            long left = nanos - (nanoTime() - begin);
            if (left <= 0) {
                return false;
            }
            LockSupport.parkNanos(future, left);
        }
        return true;
    }

    /** What a future does when it ends. It needs no memory then, and no link of a lambda. */
    private record WakeUp(Thread waiter) implements BiFunction<@Nullable Object, @Nullable Throwable, @Nullable Void> {
        @Override
        public @Nullable Void apply(@Nullable Object value, @Nullable Throwable failure) {
            LockSupport.unpark(waiter);
            return null;
        }
    }

    @Override
    public RandomGenerator random() {
        return RANDOM;
    }

    @Override
    public boolean isEngineThread() {
        return Thread.currentThread() == runner.get();
    }

    @Override
    public void close() {
        execute(this::end);
    }

    /** How many alarms are set. To be called on the engine thread. */
    int alarms() {
        return timers.size();
    }

    // ---- What the engine's own thread does.

    private void runUntilClosed() {
        begun = true;
        while (!over) {
            try {
                runOrAwaitTurn();
            } catch (Throwable t) {
                // Not even the log could be written. Every lock of the client depends on this thread, so it continues.
            }
        }
    }

    private void runOrAwaitTurn() {
        if (runner.compareAndSet(null, thread)) {
            long nanos;
            try {
                nanos = runAll();
            } finally {
                runner.set(null);
            }
            sleep(nanos);
        } else {
            awaitTurn();
        }
    }

    /** Returns how long there will be nothing to do. */
    private long runAll() {
        while (runNext()) {}
        long now = nanoTime();
        long nanos = timers.nanosToFirst(now, longestSleepNanos);
        wakesAt = now + nanos;
        return nanos;
    }

    private void sleep(long nanos) {
        asleep = true;
        try {
            if (inbox.isEmpty()) { // checked after the flag is set: an add that comes now sees the flag
                LockSupport.parkNanos(this, nanos);
            }
        } finally {
            asleep = false;
        }
    }

    private void awaitTurn() {
        var unused = Thread.interrupted(); // it would end each sleep
        turnedAway = true;
        try {
            if (runner.get() != null) { // checked after the flag is set: a runner that steps down now sees the flag
                LockSupport.parkNanos(this, longestSleepNanos);
            }
        } finally {
            turnedAway = false;
        }
    }

    // ---- What the runner does.

    /** Runs a task or an alarm, if there is one. */
    private boolean runNext() {
        if (over) {
            return false;
        }
        var unused = Thread.interrupted(); // a flag left over would end every sleep and every wait of a task
        if (taken == null) {
            taken = inbox.takeAll();
        }
        Inbox.Entry entry = taken;
        TimerHeap.Alarm due = timers.takeDue(entry == null ? nanoTime() : entry.at());
        if (due != null) {
            Guarded.run(due.task());
        } else if (entry != null) {
            taken = entry.next();
            Guarded.run(entry.take());
        }
        return due != null || entry != null;
    }

    private void end() {
        over = true;
        inbox.close();
        taken = null;
        timers.clear();
    }
}
