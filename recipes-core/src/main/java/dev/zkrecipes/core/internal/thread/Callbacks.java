// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import com.google.common.util.concurrent.MoreExecutors;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs user code: on the application's executor, if it gave one, otherwise on a pool of this library. Callbacks may
 * block, so none runs on the engine thread as long as any other thread can be started. Losses of locks are reported on
 * a pool of their own, so that blocked callbacks, however many, cannot hold up such a report. Thread-safe.
 *
 * <p>A callback always runs, even if an executor refuses it or no thread can be started: an application that is never
 * told of a lost lock would continue without it.
 */
public final class Callbacks {
    private static final Logger log = LoggerFactory.getLogger(Callbacks.class);
    private static final Executor THREAD_EACH = task -> EngineThreads.start("zkrecipes-callback-", task);
    private static final Callbacks OF_NO_CLIENT = new Callbacks(THREAD_EACH, THREAD_EACH, null, null);

    private final Executors callbacks;
    private final Executors losses;

    /** Where tasks run: on the chosen executor, or on this library's own if that refuses them. */
    private record Executors(Executor chosen, Executor own) {}

    Callbacks(Executor own, Executor ownForLosses, @Nullable Executor given, @Nullable Executor givenForLosses) {
        this.callbacks = new Executors(given == null ? own : given, own);
        this.losses = new Executors(givenForLosses == null ? ownForLosses : givenForLosses, ownForLosses);
    }

    /**
     * Returns callbacks that run on {@code given}, except that losses are reported on {@code givenForLosses}. A pool of
     * this library replaces an executor that is null.
     */
    public static Callbacks on(@Nullable Executor given, @Nullable Executor givenForLosses, EngineScheduler scheduler) {
        return new Callbacks(
                new CallbackThreads(EngineThreads.idling(CallbackThreads.MOST, "zkrecipes-callback-"), scheduler),
                new CallbackThreads(EngineThreads.idling(CallbackThreads.MOST, "zkrecipes-loss-"), scheduler),
                given,
                givenForLosses);
    }

    /**
     * Returns the callbacks for locks of other libraries, which have no client of ours. Nobody closes these callbacks,
     * so they keep no idle threads: each task gets a thread that ends with it.
     */
    public static Callbacks ofNoClient() {
        return OF_NO_CLIENT;
    }

    /** Runs the task and logs its failure. If no thread can be started for it, it runs on the calling thread. */
    public void run(Runnable task) {
        runOn(callbacks, new OneRun(task));
    }

    /** Runs a task that reports a loss. Differs from {@link #run} only in the executor. */
    public void tellLoss(Runnable task) {
        runOn(losses, new OneRun(task));
    }

    /**
     * Returns an executor that runs tasks as {@link #run} does, but one at a time and in order, as a listener expects
     * its events.
     */
    public Executor sequential() {
        Executor inOrder = MoreExecutors.newSequentialExecutor(this::run);
        return task -> inOrder.execute(new OneRun(task));
    }

    /**
     * Ends idle threads now. Later callbacks still run, on threads that end after them. Call only on the engine thread.
     */
    public void close() {
        for (Executors each : List.of(callbacks, losses)) {
            if (each.own() instanceof CallbackThreads threads) {
                threads.close();
            }
        }
    }

    /** Tries the chosen executor, then the library's own, then the calling thread. */
    private static void runOn(Executors where, OneRun task) {
        if (where.chosen() != where.own()) {
            try {
                where.chosen().execute(task);
                return;
            } catch (Throwable t) {
                log.warn(
                        "The application's callback executor refused a callback, so it runs on a thread of the lock client."
                                + " Keep the executor open until the client is closed, and give it room.",
                        t);
            }
        }
        try {
            where.own().execute(task);
        } catch (Throwable t) {
            log.error("No thread can be started for a callback, so it runs on the calling thread.", t);
            task.run();
        }
    }

    /**
     * A task that runs at most once. An executor may accept a task and then throw as if it had refused it; the next
     * executor then gets the task, too. Logs a failure of the task.
     */
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
