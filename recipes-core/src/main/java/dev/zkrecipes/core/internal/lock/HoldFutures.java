// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.Completion;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The futures of one hold's end. Most holds end without anybody asking for one. Thread-safe. */
final class HoldFutures {
    private final Callbacks callbacks;
    private final CompletableFuture<LeaseState> ended = new CompletableFuture<>();
    private final CompletableFuture<Void> givenBack = new CompletableFuture<>();
    private final AtomicReference<@Nullable CompletionStage<LeaseState>> endedForAll = new AtomicReference<>();

    HoldFutures(Callbacks callbacks) {
        this.callbacks = callbacks;
    }

    /** The hold is closed, or lost; the first time counts. */
    void end(LeaseState how) {
        ended.complete(how);
    }

    /** The hold was given back; its future ends with this one. */
    void givenBackWith(CompletableFuture<Void> released) {
        Completion.forward(released, givenBack);
    }

    /** Runs the listener when the hold is lost, where losses are told. */
    void onLost(Runnable listener) {
        Objects.requireNonNull(listener, "listener");
        Completion.on(ended, (state, failure) -> {
            if (state == LeaseState.LOST) {
                callbacks.tellLoss(listener);
            }
        });
    }

    /** For the engine's own use. */
    CompletableFuture<Void> givenBack() {
        return givenBack;
    }

    boolean hasEnded() {
        return ended.isDone();
    }

    /** For applications: the same for all, since one for each would stay as long as the lease. */
    CompletionStage<LeaseState> ended() {
        return Objects.requireNonNull(endedForAll.updateAndGet(made ->
                made != null ? made : Completion.copy(ended, this::tellOfEnd).minimalCompletionStage()));
    }

    /** For applications. */
    CompletableFuture<Void> released() {
        return Completion.copy(givenBack, callbacks::run);
    }

    private void tellOfEnd(Runnable task) {
        if (ended.getNow(LeaseState.HELD) == LeaseState.LOST) {
            callbacks.tellLoss(task);
        } else {
            callbacks.run(task);
        }
    }
}
