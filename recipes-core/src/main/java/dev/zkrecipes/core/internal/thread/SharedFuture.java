// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One future for all callers, which none of them can complete, cancel or change. Copies for each would stay in the
 * memory of their source until that ends, however many and old they are.
 *
 * <p>A time limit applies to a new future, which leaves nothing in this one when it ends. All dependent futures are
 * ordinary ones.
 *
 * @param <T> its value
 */
public final class SharedFuture<T> extends CompletableFuture<T> {
    private SharedFuture() {}

    /** A future that ends as {@code source} does, on the executor. */
    public static <T> SharedFuture<T> of(CompletableFuture<T> source, Executor executor) {
        SharedFuture<T> shared = new SharedFuture<>();
        Completion.on(source, (value, failure) -> executor.execute(() -> shared.end(value, failure)));
        return shared;
    }

    @SuppressWarnings("NullAway") // a future of Void has no other value
    private void end(@Nullable T value, @Nullable Throwable failure) {
        if (failure == null) {
            super.complete(value);
        } else {
            super.completeExceptionally(failure);
        }
    }

    @Override
    public boolean complete(T value) {
        return false;
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        return false;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return false;
    }

    @Override
    public void obtrudeValue(T value) {
        throw new UnsupportedOperationException("a future that others share");
    }

    @Override
    public void obtrudeException(Throwable failure) {
        throw new UnsupportedOperationException("a future that others share");
    }

    @Override
    public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
        throw new UnsupportedOperationException("a future that others share");
    }

    @Override
    public CompletableFuture<T> orTimeout(long timeout, TimeUnit unit) {
        return orElse(new CompletableFuture<T>().orTimeout(timeout, unit));
    }

    @Override
    public CompletableFuture<T> completeOnTimeout(T value, long timeout, TimeUnit unit) {
        return orElse(new CompletableFuture<T>().completeOnTimeout(value, timeout, unit));
    }

    /**
     * Ends with the first of the two, takes itself out of the other, and ends the limit, which cancels its timer. A
     * limit that fails or is cancelled would not cancel it on a JDK without the fix of JDK-8303742.
     */
    @SuppressWarnings({"unchecked", "NullAway"}) // both are of this type; nobody sees the value of the limit
    private CompletableFuture<T> orElse(CompletableFuture<T> limit) {
        CompletableFuture<T> first = (CompletableFuture<T>) CompletableFuture.anyOf(this, limit);
        var unused = first.whenComplete((value, failure) -> limit.complete(null));
        return first;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
