// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The real thread and the real clocks.
 *
 * <p>Other threads share nothing with the engine but its {@link Inbox} and the flag that it sleeps. They take no lock,
 * so wherever an Error ends one of them, the others continue. A StackOverflowError or OutOfMemoryError out of {@link
 * #execute} means that the task was not given. A thread that is stopped after its task is in and before the engine is
 * woken delays that task until the next one is given, by {@link #LONGEST_SLEEP_NANOS} at most.
 *
 * <p>Tasks and alarms run in the order of time: an alarm waits for those tasks that were given before it fell due.
 */
public final class EngineThread implements EngineScheduler {
    /** One for all clients: ids of two processes must differ even if both started at the same moment. */
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final long LONGEST_SLEEP_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long LONGEST_DELAY_NANOS = Long.MAX_VALUE / 2;

    private final Inbox inbox = new Inbox();
    private final Thread thread = EngineThreads.engine(this::runUntilClosed);
    private final long longestSleepNanos;
    private volatile boolean begun;
    private volatile boolean asleep;

    // Confined to the thread.
    private final TimerHeap timers = new TimerHeap();
    private Inbox.@Nullable Entry taken; // the oldest of those that are out of the inbox
    private boolean over;

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
            if (asleep) {
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

    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
        try {
            future.get(Deadline.saturatedNanos(timeout), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException | CancellationException e) {
            return true; // the caller looks how
        }
        return true;
    }

    @Override
    public RandomGenerator random() {
        return RANDOM;
    }

    @Override
    public boolean isEngineThread() {
        return Thread.currentThread() == thread;
    }

    @Override
    public void close() {
        execute(this::end);
    }

    /** How many alarms are set. To be called on the engine thread. */
    int alarms() {
        return timers.size();
    }

    // ---- What the engine thread does.

    private void runUntilClosed() {
        begun = true;
        while (!over) {
            try {
                runNext();
            } catch (Throwable t) {
                // Not even the log could be written. Every lock of the client depends on this thread, so it continues.
            }
        }
    }

    private void runNext() {
        var unused = Thread.interrupted(); // a flag left over would end every sleep and every wait of a task
        if (taken == null) {
            taken = inbox.takeAll();
        }
        Inbox.Entry entry = taken;
        long now = entry == null ? nanoTime() : entry.at();
        TimerHeap.Alarm due = timers.takeDue(now);
        if (due != null) {
            Guarded.run(due.task());
        } else if (entry != null) {
            taken = entry.next();
            Guarded.run(entry.task());
        } else {
            sleep(timers.nanosToFirst(now, longestSleepNanos));
        }
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

    private void end() {
        over = true;
        inbox.close();
        taken = null;
        timers.clear();
    }
}
