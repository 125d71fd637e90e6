// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import com.google.common.util.concurrent.MoreExecutors;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where user code runs. Never the engine thread, unless the user's executor says so. Thread-safe. */
public final class Callbacks {
    private static final Logger log = LoggerFactory.getLogger(Callbacks.class);

    private final Executor executor;
    private final @Nullable ExecutorService owned;

    public Callbacks(@Nullable Executor given) {
        if (given == null) {
            ExecutorService made = EngineThreads.callbacks();
            this.owned = made;
            this.executor = made;
        } else {
            this.owned = null;
            this.executor = given;
        }
    }

    /** Runs the task; a failure of it is logged. If the executor refuses, the task runs on the calling thread. */
    public void run(Runnable task) {
        runOn(executor, task);
    }

    /** An executor over this one that runs its tasks one after another, in order. */
    public Executor sequential() {
        Executor inOrder = MoreExecutors.newSequentialExecutor(executor);
        return task -> runOn(inOrder, task);
    }

    /** Lets what was submitted finish and ends the threads. */
    public void close() {
        if (owned != null) {
            owned.shutdown();
        }
    }

    private void runOn(Executor target, Runnable task) {
        Runnable guarded = () -> {
            try {
                task.run();
            } catch (Throwable t) {
                log.warn("A callback of the application failed; the lock goes on. Mend the callback.", t);
            }
        };
        try {
            target.execute(guarded);
        } catch (Throwable t) {
            // What must be delivered is delivered. Our own executor refuses only when the client is closed.
            if (owned == null) {
                log.warn(
                        "The callback executor refused a task, so it runs on the calling thread. Keep the executor open"
                                + " until the client is closed.",
                        t);
            }
            guarded.run();
        }
    }
}
