// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Something that a fault waits for on the wire: it happens once, or turns out to be impossible. */
final class Signal {
    private final String what;
    private final CompletableFuture<Void> given = new CompletableFuture<>();

    /** @param what completes "did not see ..." */
    Signal(String what) {
        this.what = what;
    }

    void give() {
        given.complete(null);
    }

    void giveUp(String reason) {
        given.completeExceptionally(new IllegalStateException(this + " did not happen: " + reason));
    }

    boolean isGiven() {
        return given.isDone() && !given.isCompletedExceptionally();
    }

    CompletableFuture<Void> future() {
        return given.copy();
    }

    void await(Duration limit) throws InterruptedException {
        try {
            given.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError(this + " did not happen within " + limit.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            Throwable reason = Objects.requireNonNullElse(e.getCause(), e);
            throw new AssertionError(reason.getMessage(), reason);
        }
    }

    @Override
    public String toString() {
        return what;
    }
}
