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

    public static void forward(CompletableFuture<Void> from, CompletableFuture<Void> to) {
        forward(from, to, Runnable::run);
    }

    /** A future for one caller, who may complete it. It ends as {@code source} does, on the executor. */
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

    public static <T> void on(CompletableFuture<T> future, BiConsumer<@Nullable T, @Nullable Throwable> action) {
        var unused = future.whenComplete(action);
    }
}
