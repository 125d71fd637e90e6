// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.internal.acquire.Acquisition;
import dev.zkrecipes.core.internal.hold.Hold;
import dev.zkrecipes.core.internal.hold.Hold.Origin;
import dev.zkrecipes.core.internal.hold.ObservedRequest;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.LastResort;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One request, as a future. If that ends with anything but the grant, the request is withdrawn. */
final class AsyncRequest extends CompletableFuture<Lease> {
    private final Origin lock;
    private final LastResort lastResort;
    private final Executor delivery;
    private final @Nullable ObservedRequest observed;
    volatile @Nullable Acquisition acquisition; // null if the future has ended

    /** {@code delivery} completes the future; the acquisition is that of a lock of the engine. */
    AsyncRequest(
            Origin lock, Executor delivery, @Nullable ObservedRequest observed, @Nullable Acquisition acquisition) {
        this.lock = lock;
        this.lastResort = lock.lastResort();
        this.delivery = delivery;
        this.observed = observed;
        this.acquisition = acquisition;
    }

    /** {@code open} makes a hold of what is granted, or gives it back. */
    <T> void follow(CompletableFuture<T> outcome, Function<T, Hold> open, Runnable withdraw) {
        Completion.on(outcome, (granted, failure) -> {
            try {
                delivery.execute(() -> deliver(granted, failure, open));
            } catch (Throwable t) { // the lock may be held by nobody
                lastResort.thrown = t;
                lock.wakeEngine();
                completeExceptionally(t);
            }
        });
        Completion.on(this, (lease, failure) -> {
            withdraw.run();
            acquisition = null;
        });
    }

    private <T> void deliver(@Nullable T granted, @Nullable Throwable failure, Function<T, Hold> open) {
        try {
            if (granted == null) {
                throw Objects.requireNonNull(failure);
            }
            Hold hold = open.apply(granted);
            boolean isTaken = false;
            try {
                isTaken = complete(hold);
            } finally {
                if (!isTaken) {
                    hold.beginClosing(false);
                }
            }
        } catch (Throwable t) {
            if (granted != null && t instanceof VirtualMachineError) { // it may be held by nobody
                lastResort.thrown = t;
                lock.wakeEngine();
            }
            if (observed != null) {
                observed.failed(t);
            }
            completeExceptionally(t);
        }
    }
}
