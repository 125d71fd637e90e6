// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import com.google.common.util.concurrent.MoreExecutors;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.util.concurrent.Executor;
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

    private final CallbackThreads own;
    private final CallbackThreads ownForLosses;
    private final Executor executor;
    private final Executor losses;

    private Callbacks(EngineScheduler scheduler, @Nullable Executor given, @Nullable Executor givenForLosses) {
        this.own = EngineThreads.callbacks(scheduler);
        this.ownForLosses = EngineThreads.losses(scheduler);
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
        runOn(executor, own, guarded(task));
    }

    /** The same for a task that reports a loss. */
    public void tellLoss(Runnable task) {
        runOn(losses, ownForLosses, guarded(task));
    }

    /** The same for a loss that no client of this library has found out: on a thread of its own. */
    public static void tellLossOfAnother(Runnable task) {
        EngineThreads.tellingOfLoss(guarded(task));
    }

    /** An executor that runs its tasks as {@link #run} does, one after another, in order. */
    public Executor sequential() {
        Executor inOrder = MoreExecutors.newSequentialExecutor(this::run);
        return task -> inOrder.execute(guarded(task));
    }

    /** Idle threads end now. What comes later still runs, on a thread that ends after it. */
    public void close() {
        own.close();
        ownForLosses.close();
    }

    private static void runOn(Executor spec, CallbackThreads own, Runnable task) {
        if (spec != own) {
            try {
                spec.execute(task);
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
            // No thread can be started, but it must be delivered.
            log.error("No thread can be started for a callback, so it runs on the calling thread.", t);
            task.run();
        }
    }

    private static Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (Throwable t) {
                log.warn("A callback of the application failed; the lock is not affected. Fix the callback.", t);
            }
        };
    }
}
