// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.internal.acquire.Acquisition;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.HeldNodes;
import dev.zkrecipes.core.internal.thread.Completion;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * One request, as the future that its outcome completes. However the future ends, if
 * not with the grant, the request leaves the queue.
 */
final class AsyncRequest extends CompletableFuture<Lease> {
    private final Executor delivery;
    private final OwnedLock lock;
    private volatile @Nullable Acquisition acquisition; // null when the future has ended
    private final @Nullable ObservedRequest observed;

    /** {@code delivery} completes the future. */
    AsyncRequest(Executor delivery, OwnedLock lock, Acquisition acquisition, @Nullable ObservedRequest observed) {
        this.delivery = delivery;
        this.lock = lock;
        this.acquisition = acquisition;
        this.observed = observed;
    }

    CompletableFuture<Lease> begin() {
        Acquisition asked = Objects.requireNonNull(acquisition);
        Completion.on(asked.outcome(), (outcome, failure) -> {
            List<HeldNode> grants = outcome == null ? null : outcome.orElseThrow();
            try {
                delivery.execute(() -> deliver(grants, failure));
            } catch (Throwable t) {
                giveBack(grants, t);
            }
        });
        Completion.on(this, (lease, failure) -> {
            asked.giveUp();
            acquisition = null;
        });
        asked.launch();
        lock.table().lookForDeadOwners();
        return this;
    }

    /** Null if the future has ended. */
    @Nullable
    Acquisition acquisition() {
        return acquisition;
    }

    private void deliver(@Nullable List<HeldNode> grants, @Nullable Throwable failure) {
        try {
            if (grants != null) {
                Hold hold = Hold.open(lock, grants, lock.asynchronous(), observed);
                AsyncLease.complete(this, hold, lock.table().dropped());
                return;
            }
            if (observed != null) {
                observed.failed(Objects.requireNonNull(failure));
            }
            completeExceptionally(Objects.requireNonNull(failure));
        } catch (Throwable t) {
            giveBack(grants, t);
        }
    }

    /** Gives back a grant that could not be handed on. */
    private void giveBack(@Nullable List<HeldNode> grants, Throwable why) {
        HeldNodes.release(grants == null ? List.of() : grants);
        completeExceptionally(why);
    }
}
