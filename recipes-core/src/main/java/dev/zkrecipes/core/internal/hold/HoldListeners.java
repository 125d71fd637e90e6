// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.Completion;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The listeners and futures of one hold, and whether any thread may close it. Most holds never need this object. */
public final class HoldListeners {
    private final Callbacks callbacks;
    volatile boolean anyThreadCloses;
    final CompletableFuture<LeaseState> ended = new CompletableFuture<>(); // completed by a close or by a loss
    final CompletableFuture<Void> givenBack = new CompletableFuture<>(); // completed once the nodes are gone
    private final AtomicReference<@Nullable CompletionStage<LeaseState>> endedForAll = new AtomicReference<>();
    private final AtomicReference<@Nullable RevocationListeners> revocations = new AtomicReference<>();

    HoldListeners(Callbacks callbacks) {
        this.callbacks = callbacks;
    }

    /** Called when the hold was closed or lost. Only the first call has an effect. */
    void end(LeaseState how) {
        ended.complete(how);
        RevocationListeners told = revocations.get(); // a listener that is added later sees that the hold has ended
        if (told != null) {
            told.end();
        }
    }

    /** Runs the listener once the hold is lost, on a thread for losses. */
    void onLost(Runnable listener) {
        Objects.requireNonNull(listener, "listener");
        Completion.on(ended, (state, failure) -> {
            if (state == LeaseState.LOST) {
                callbacks.tellLoss(listener);
            }
        });
    }

    /** Runs the task once the hold was closed or lost, on the thread that ends it; at once if that has happened. */
    public void onEnd(Runnable task) {
        Completion.on(ended, (how, failure) -> task.run());
    }

    /** Returns the listeners for requests to release the lock, which the first call creates. */
    public RevocationListeners revocations(Supplier<RevocationListeners> maker) {
        return Objects.requireNonNull(revocations.updateAndGet(made -> made != null ? made : maker.get()));
    }

    /** Returns the same stage to all callers. A new stage for each call would stay in memory as long as the lease. */
    CompletionStage<LeaseState> ended() {
        return Objects.requireNonNull(endedForAll.updateAndGet(made ->
                made != null ? made : Completion.copy(ended, this::tellOfEnd).minimalCompletionStage()));
    }

    /** Returns a copy for the application, which completes on a callback thread once the hold is released. */
    CompletableFuture<Void> released() {
        return Completion.copy(givenBack, callbacks::run);
    }

    /** Runs the task as a callback. Losses have their own threads, so that blocked callbacks do not delay them. */
    private void tellOfEnd(Runnable task) {
        if (ended.getNow(LeaseState.HELD) == LeaseState.LOST) {
            callbacks.tellLoss(task);
        } else {
            callbacks.run(task);
        }
    }
}
