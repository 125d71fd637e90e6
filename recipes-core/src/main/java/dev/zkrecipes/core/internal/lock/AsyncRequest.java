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

/**
 * One asynchronous request, which is the future that the application gets. It completes with the lease, on an executor
 * that the lock chooses. If it ends in any other way, for example because the application cancels it, the request is
 * withdrawn.
 *
 * <p>A grant that cannot be handed to the application is released. If that fails because stack or memory is exhausted,
 * the error goes to the {@link LastResort}, which ends the client, if there is one. Otherwise the lock would stay held
 * although nobody has a lease for it. Thread-safe.
 */
final class AsyncRequest extends CompletableFuture<Lease> {
    private final LastResort lastResort; // a field, since there may be no stack left for a call
    private final Executor delivery;
    private final @Nullable ObservedRequest observed;
    volatile @Nullable Acquisition acquisition; // null for a foreign lock, and once the future has ended

    /**
     * {@code delivery} runs the task that completes this future. {@code acquisition} is the engine's request; null
     * for a foreign lock.
     */
    AsyncRequest(
            Origin lock, Executor delivery, @Nullable ObservedRequest observed, @Nullable Acquisition acquisition) {
        this.lastResort = lock.lastResort();
        this.delivery = delivery;
        this.observed = observed;
        this.acquisition = acquisition;
    }

    /**
     * Completes this future once {@code outcome} has completed. {@code open} opens a hold on the grant; if it throws,
     * it has released the grant. {@code withdraw} runs once this future has completed, in whatever way.
     */
    <T> void follow(CompletableFuture<T> outcome, Function<T, Hold> open, Runnable withdraw) {
        Completion.on(outcome, (granted, failure) -> {
            try {
                delivery.execute(() -> deliver(granted, failure, open));
            } catch (Throwable t) { // nobody else would release the grant
                lastResort.thrown = t;
                lastResort.wakeEngine();
                completeExceptionally(t);
            }
        });
        Completion.on(this, (lease, failure) -> {
            withdraw.run();
            acquisition = null;
        });
    }

    /**
     * Completes this future with a new hold, or with the error. If the application has cancelled the future in the
     * meantime, nobody else can close the hold, so it is closed here.
     */
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
            if (granted != null && t instanceof VirtualMachineError) { // the grant may not have been released
                lastResort.thrown = t;
                lastResort.wakeEngine();
            }
            if (observed != null) {
                observed.failed(t);
            }
            completeExceptionally(t);
        }
    }
}
