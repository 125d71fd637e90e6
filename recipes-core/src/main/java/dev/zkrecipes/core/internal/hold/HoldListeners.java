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

/**
 * The listeners and futures of one hold, and whether any thread may close it. Most holds end without anybody
 * asking for these.
 */
public final class HoldListeners {
    private final Callbacks callbacks;
    volatile boolean anyThreadCloses;
    final CompletableFuture<LeaseState> ended = new CompletableFuture<>(); // by its close, or by a loss
    final CompletableFuture<Void> givenBack = new CompletableFuture<>(); // once the nodes are gone
    private final AtomicReference<@Nullable CompletionStage<LeaseState>> endedForAll = new AtomicReference<>();
    private final AtomicReference<@Nullable RevocationListeners> revocations = new AtomicReference<>();

    HoldListeners(Callbacks callbacks) {
        this.callbacks = callbacks;
    }

    /** The hold was closed, or lost. Only the first call counts. */
    void end(LeaseState how) {
        ended.complete(how);
        RevocationListeners told = revocations.get(); // a listener that comes later sees that the hold has ended
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

    /** The listeners for requests to release the lock, created by the first call. */
    public RevocationListeners revocations(Supplier<RevocationListeners> maker) {
        return Objects.requireNonNull(revocations.updateAndGet(made -> made != null ? made : maker.get()));
    }

    /** One stage for all callers: a new stage for each call would stay as long as the lease. */
    CompletionStage<LeaseState> ended() {
        return Objects.requireNonNull(endedForAll.updateAndGet(made ->
                made != null ? made : Completion.copy(ended, this::tellOfEnd).minimalCompletionStage()));
    }

    /** A copy for the application, which completes once the hold is released, on a callback thread. */
    CompletableFuture<Void> released() {
        return Completion.copy(givenBack, callbacks::run);
    }

    /** A loss has threads of its own, so that blocked callbacks do not delay it. */
    private void tellOfEnd(Runnable task) {
        if (ended.getNow(LeaseState.HELD) == LeaseState.LOST) {
            callbacks.tellLoss(task);
        } else {
            callbacks.run(task);
        }
    }
}
