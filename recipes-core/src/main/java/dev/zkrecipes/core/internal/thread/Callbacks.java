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
 * Where user code runs: on the application's executor, if it gave one, otherwise on a pool of the library's. Losses and
 * the ends of lost leases have a pool of their own, so no number of blocked callbacks hides a loss. Thread-safe.
 */
public final class Callbacks {
    private static final Logger log = LoggerFactory.getLogger(Callbacks.class);
    private static final Executor THREAD_EACH = task -> EngineThreads.start("zkrecipes-callback-", task);
    private static final Callbacks OF_NO_CLIENT = new Callbacks(THREAD_EACH, THREAD_EACH, null, null);

    private final Executor own;
    private final Executor ownForLosses;
    private final Executor executor;
    private final Executor losses;

    Callbacks(Executor own, Executor ownForLosses, @Nullable Executor given, @Nullable Executor givenForLosses) {
        this.own = own;
        this.ownForLosses = ownForLosses;
        this.executor = given == null ? own : given;
        this.losses = givenForLosses == null ? ownForLosses : givenForLosses;
    }

    /** Callbacks run on the one executor, if there is one, and losses are reported on the other. */
    public static Callbacks on(@Nullable Executor given, @Nullable Executor givenForLosses, EngineScheduler scheduler) {
        return new Callbacks(
                new CallbackThreads("zkrecipes-callback-", scheduler),
                new CallbackThreads("zkrecipes-loss-", scheduler),
                given,
                givenForLosses);
    }

    /** Callbacks of locks of other libraries. Nobody says when their threads are not needed: each ends at once. */
    public static Callbacks ofNoClient() {
        return OF_NO_CLIENT;
    }

    /** Runs the task and logs its failure; if no thread can be started for it, on the calling thread. */
    public void run(Runnable task) {
        runOn(executor, own, new OneRun(task));
    }

    public void tellLoss(Runnable task) {
        runOn(losses, ownForLosses, new OneRun(task));
    }

    /** An executor that runs its tasks as {@link #run} does, one after another, in order. */
    public Executor sequential() {
        Executor inOrder = MoreExecutors.newSequentialExecutor(this::run);
        return task -> inOrder.execute(new OneRun(task));
    }

    /** Idle threads end now. What comes later still runs, on a thread that ends after it. On the engine thread. */
    public void close() {
        for (Executor each : List.of(own, ownForLosses)) {
            if (each instanceof CallbackThreads threads) {
                threads.close();
            }
        }
    }

    private static void runOn(Executor chosen, Executor own, OneRun task) {
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
            log.error("No thread can be started for a callback, so it runs on the calling thread.", t);
            task.run();
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
