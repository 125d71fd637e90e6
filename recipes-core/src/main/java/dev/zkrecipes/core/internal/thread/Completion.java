// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Ties futures together. */
public final class Completion {
    private Completion() {}

    /** However {@code from} ends, so does {@code to}. */
    public static void forward(CompletableFuture<Void> from, CompletableFuture<Void> to) {
        on(from, (nothing, failure) -> {
            if (failure == null) {
                to.complete(null);
            } else {
                to.completeExceptionally(failure);
            }
        });
    }

    /**
     * A future of its own for a caller, who may complete or cancel it: it ends as {@code source} does, on the executor,
     * or at once if that has ended.
     */
    @SuppressWarnings("NullAway") // a future of Void has no other value
    public static <T> CompletableFuture<T> copy(CompletableFuture<T> source, Executor executor) {
        CompletableFuture<T> copy = new CompletableFuture<>();
        Executor where = source.isDone() ? Runnable::run : executor;
        on(
                source,
                (value, failure) -> where.execute(() -> {
                    if (failure == null) {
                        copy.complete(value);
                    } else {
                        copy.completeExceptionally(failure);
                    }
                }));
        return copy;
    }

    /** Runs {@code action} when the future ends, on the thread that ends it. */
    public static <T> void on(CompletableFuture<T> future, BiConsumer<@Nullable T, @Nullable Throwable> action) {
        var unused = future.whenComplete(action);
    }
}
