// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Connects futures, so that one completes when another does. */
public final class Completion {
    private Completion() {}

    /** Completes {@code to} with the outcome of {@code from}, on the thread that completes {@code from}. */
    public static void forward(CompletableFuture<Void> from, CompletableFuture<Void> to) {
        forward(from, to, Runnable::run);
    }

    /**
     * Returns a future for one caller, who may complete or cancel it without effect on {@code source}. It completes
     * with the outcome of {@code source}, on the executor, so that the caller's code does not run on the thread that
     * completes {@code source}. If {@code source} is already completed, so is the returned future.
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

    /**
     * Runs {@code action} when the future completes, on the thread that completes it, or at once if it is completed.
     */
    public static <T> void on(CompletableFuture<T> future, BiConsumer<@Nullable T, @Nullable Throwable> action) {
        var unused = future.whenComplete(action);
    }
}
