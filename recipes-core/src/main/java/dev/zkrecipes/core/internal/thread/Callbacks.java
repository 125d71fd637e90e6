// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import com.google.common.util.concurrent.MoreExecutors;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where user code runs: on the application's executor, if it gave one, otherwise on the library's own threads, whose
 * number grows while callbacks block. Losses have threads of their own. So no callback waits for one that blocks, and
 * no number of blocked callbacks hides a loss. Thread-safe.
 */
public final class Callbacks {
    private static final Logger log = LoggerFactory.getLogger(Callbacks.class);
    static final Duration RETRY = Duration.ofMillis(100);

    private final CallbackThreads own;
    private final CallbackThreads ownForLosses;
    private final Executor executor;
    private final Executor losses;
    private final EngineScheduler scheduler;
    private final Queue<Undelivered> undelivered = new ArrayDeque<>(); // like the next two, on the engine thread
    private boolean retrying;
    private boolean closed;

    /** A task that no thread could be started for. */
    private record Undelivered(CallbackThreads own, OneRun task) {}

    private Callbacks(EngineScheduler scheduler, @Nullable Executor given, @Nullable Executor givenForLosses) {
        this(scheduler, EngineThreads.callbacks(scheduler), EngineThreads.losses(scheduler), given, givenForLosses);
    }

    Callbacks(
            EngineScheduler scheduler,
            CallbackThreads own,
            CallbackThreads ownForLosses,
            @Nullable Executor given,
            @Nullable Executor givenForLosses) {
        this.scheduler = scheduler;
        this.own = own;
        this.ownForLosses = ownForLosses;
        this.executor = given == null ? own : given;
        this.losses = givenForLosses == null ? ownForLosses : givenForLosses;
    }

    /** Callbacks run on the executor, if there is one; losses are reported on the library's own threads. */
    public static Callbacks on(@Nullable Executor given, EngineScheduler scheduler) {
        return new Callbacks(scheduler, given, null);
    }

    /** Everything runs on the executor, if there is one: a simulation has no threads but its own. */
    public static Callbacks allOn(@Nullable Executor given, EngineScheduler scheduler) {
        return new Callbacks(scheduler, given, given);
    }

    /** Runs the task and logs its failure. */
    public void run(Runnable task) {
        runOn(executor, own, new OneRun(task));
    }

    /** The same for a task that reports a loss. */
    public void tellLoss(Runnable task) {
        runOn(losses, ownForLosses, new OneRun(task));
    }

    /** The same for a loss that no client of this library has found out: on a thread of its own. */
    public static void tellLossOfAnother(Runnable task) {
        EngineThreads.tellingOfLoss(new OneRun(task));
    }

    /** An executor that runs its tasks as {@link #run} does, one after another, in order. */
    public Executor sequential() {
        Executor inOrder = MoreExecutors.newSequentialExecutor(this::run);
        return task -> inOrder.execute(new OneRun(task));
    }

    /** Idle threads end now. What comes later still runs, on a thread that ends after it. On the engine thread. */
    public void close() {
        closed = true;
        for (Undelivered next = undelivered.poll(); next != null; next = undelivered.poll()) {
            runOn(next.own(), next.own(), next.task());
        }
        own.close();
        ownForLosses.close();
    }

    private void runOn(Executor chosen, CallbackThreads own, OneRun task) {
        if (chosen != own) {
            try {
                chosen.execute(task);
                return;
            } catch (Throwable t) {
                log.warn(
                        "The application's callback executor refused a callback, so it runs on a thread of the lock client."
                                + " Keep the executor open until the client is closed, and give it room.",
                        t);
            }
        }
        try {
            own.execute(task);
        } catch (Throwable t) {
            deliverAnyhow(own, task, t);
        }
    }

    /**
     * No thread can be started, but it must be delivered. What may block does not run on the engine thread as long as
     * that can try again.
     */
    private void deliverAnyhow(CallbackThreads own, OneRun task, Throwable why) {
        if (!scheduler.isEngineThread() || closed || !isTriedAgain(new Undelivered(own, task), why)) {
            log.error("No thread can be started for a callback, so it runs on the calling thread.", why);
            task.run();
        }
    }

    private boolean isTriedAgain(Undelivered later, Throwable why) {
        if (!retrying) {
            log.error("No thread can be started for callbacks. It is tried every {} ms.", RETRY.toMillis(), why);
            try {
                scheduleRetry();
            } catch (Throwable t) {
                why.addSuppressed(t);
                return false;
            }
        }
        undelivered.add(later);
        return true;
    }

    private void scheduleRetry() {
        scheduler.schedule(RETRY, this::retry);
        retrying = true;
    }

    /** In order, until no thread can be started again. */
    private void retry() {
        retrying = false;
        try {
            for (Undelivered next = undelivered.peek(); next != null; next = undelivered.peek()) {
                next.own().execute(next.task());
                undelivered.remove();
            }
        } catch (Throwable t) {
            scheduleRetry();
        }
    }

    /** A task that runs once, also if an executor takes it and then throws as if it had not. Its failure is logged. */
    @SuppressWarnings("serial") // never serialized
    private static final class OneRun extends AtomicBoolean implements Runnable {
        private final Runnable task;

        OneRun(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            if (compareAndSet(false, true)) {
                try {
                    task.run();
                } catch (Throwable t) {
                    log.warn("A callback of the application failed; the lock is not affected. Fix the callback.", t);
                }
            }
        }
    }
}
