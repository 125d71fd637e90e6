// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Two sessions hand a lock to each other. The measured time is that from the release in one to the grant in the other,
 * which is already in the queue by then.
 */
final class HandOver implements Task, AutoCloseable {
    private final List<InterProcessLock> sides;
    private int holder;
    private @Nullable Lease held;
    private @Nullable CompletableFuture<Lease> waiting;

    /** The same lock, as each session has it. */
    HandOver(InterProcessLock one, InterProcessLock other) {
        this.sides = List.of(one, other);
    }

    @Override
    public long run() throws InterruptedException, ExecutionException, TimeoutException {
        Lease mine = held;
        if (mine == null) {
            mine = sides.get(holder).acquireAsync().get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            held = mine;
        }
        CompletableFuture<Lease> next = sides.get(1 - holder).acquireAsync();
        waiting = next;
        while (!next.isDone() && sides.get(holder).participants().size() < sides.size()) {
            Thread.onSpinWait();
        }
        long begin = System.nanoTime();
        CompletableFuture<Void> released = mine.closeAsync();
        Lease granted = next.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        long nanos = System.nanoTime() - begin;
        released.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        held = granted;
        waiting = null;
        holder = 1 - holder;
        return nanos;
    }

    /** Releases what is held, and cancels the wait. */
    @Override
    public void close() {
        CompletableFuture<Lease> next = waiting;
        if (next != null && !next.cancel(true) && !next.isCompletedExceptionally()) {
            next.join().close();
        }
        Lease mine = held;
        if (mine != null) {
            mine.close();
        }
    }
}
