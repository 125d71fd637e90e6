// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import java.util.concurrent.CompletableFuture;
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

    /** Runs {@code action} when the future ends, on the thread that ends it. */
    public static <T> void on(CompletableFuture<T> future, BiConsumer<@Nullable T, @Nullable Throwable> action) {
        var unused = future.whenComplete(action);
    }
}
