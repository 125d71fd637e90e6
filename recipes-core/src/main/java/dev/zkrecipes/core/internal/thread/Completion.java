// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Connects futures, so that one ends when another does. */
public final class Completion {
    private Completion() {}

    /** Ends {@code to} in the same way as {@code from}, on the thread that ends {@code from}. */
    public static void forward(CompletableFuture<Void> from, CompletableFuture<Void> to) {
        forward(from, to, Runnable::run);
    }

    /**
     * A future for one caller, which may complete or cancel it without effect on {@code source}. It ends as
     * {@code source} does, on the executor, so that code of the caller's does not run on the thread that ends
     * {@code source}.
     */
    public static <T> CompletableFuture<T> copy(CompletableFuture<T> source, Executor executor) {
        CompletableFuture<T> copy = new CompletableFuture<>();
        forward(source, copy, source.isDone() ? Runnable::run : executor);
        return copy;
    }

    @SuppressWarnings("NullAway") // a future of Void has no other value
    private static <T> void forward(CompletableFuture<T> from, CompletableFuture<T> to, Executor where) {
        on(
                from,
                (value, failure) -> where.execute(() -> {
                    if (failure == null) {
                        to.complete(value);
                    } else {
                        to.completeExceptionally(failure);
                    }
                }));
    }

    /** Runs {@code action} when the future ends, on the thread that ends it, or at once if it has ended. */
    public static <T> void on(CompletableFuture<T> future, BiConsumer<@Nullable T, @Nullable Throwable> action) {
        var unused = future.whenComplete(action);
    }
}
