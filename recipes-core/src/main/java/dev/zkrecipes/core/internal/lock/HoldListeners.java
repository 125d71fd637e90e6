// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.internal.revoke.RevocationListeners;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.Completion;
import java.lang.ref.Reference;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Who is told of one hold: the futures of its end, and the listeners to requests to give it back. Most holds end
 * without anybody asking for that. Thread-safe.
 */
final class HoldListeners {
    private final Callbacks callbacks;
    private final CompletableFuture<LeaseState> ended = new CompletableFuture<>();
    private final CompletableFuture<Void> givenBack = new CompletableFuture<>();
    private final AtomicReference<@Nullable CompletionStage<LeaseState>> endedForAll = new AtomicReference<>();
    private final AtomicReference<@Nullable RevocationListeners> revocations = new AtomicReference<>();
    private volatile @Nullable Reference<Lease> toLease;

    HoldListeners(Callbacks callbacks) {
        this.callbacks = callbacks;
    }

    /** Keeps the reference that tells when nobody has the lease of the hold any more. */
    void keep(Reference<Lease> reference) {
        toLease = reference;
    }

    /** The hold is closed, or lost; the first time counts. */
    void end(LeaseState how) {
        ended.complete(how);
        RevocationListeners told = revocations.get(); // a listener that comes later sees that the hold has ended
        if (told != null) {
            told.end();
        }
        Reference<Lease> reference = toLease;
        if (reference != null) {
            reference.clear(); // nothing is left to tell
        }
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

    RevocationListeners revocations(Supplier<RevocationListeners> maker) {
        return Objects.requireNonNull(revocations.updateAndGet(made -> made != null ? made : maker.get()));
    }

    /** Ends when the hold is given back; for the engine's own use. */
    CompletableFuture<Void> givenBack() {
        return givenBack;
    }

    /** One stage for all applications that ask, since one for each would stay as long as the lease. */
    CompletionStage<LeaseState> ended() {
        return Objects.requireNonNull(endedForAll.updateAndGet(made ->
                made != null ? made : Completion.copy(ended, this::tellOfEnd).minimalCompletionStage()));
    }

    /** Ends when the hold is given back; for applications. */
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
