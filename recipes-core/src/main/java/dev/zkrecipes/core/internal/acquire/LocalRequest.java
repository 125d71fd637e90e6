// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.node.HeldNode;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A request that waits in a {@link LocalQueue}. It has no node of its own. Whoever completes its outcome first decides: who
 * passes a node to it, or the caller by giving up. Any thread.
 */
final class LocalRequest implements Acquisition {
    private final LocalQueues.Key key;
    private final LocalQueues queues;
    private final boolean isAsynchronous;
    private final CompletableFuture<Optional<List<HeldNode>>> outcome = new CompletableFuture<>();
    private final AtomicReference<@Nullable LocalQueue> queue = new AtomicReference<>(); // null unless it waits there

    LocalRequest(LocalQueues queues, LocalQueues.Key key, boolean isAsynchronous) {
        this.queues = queues;
        this.key = key;
        this.isAsynchronous = isAsynchronous;
    }

    /** Whether user code hangs on its outcome, which the engine thread is to set off. */
    boolean isAsynchronous() {
        return isAsynchronous;
    }

    boolean isOver() {
        return outcome.isDone();
    }

    @Override
    public String lockPath() {
        return key.group().path();
    }

    @Override
    public List<String> paths() {
        return key.group().paths();
    }

    @Override
    public CompletableFuture<Optional<List<HeldNode>>> outcome() {
        return outcome;
    }

    @Override
    public void launch() {
        queues.requests().enter(this);
        if (!outcome.isDone()) { // else the client is closed
            queues.join(key, this);
        }
    }

    /** It is counted in this queue until it leaves. */
    void stands(LocalQueue in) {
        queue.set(in);
    }

    /** Whoever ended it may have done so before it stood there. */
    void leaveIfOver() {
        if (isOver()) {
            leave(true);
        }
    }

    /** Gives it the lock; returns whether it has taken it. */
    boolean take(Optional<List<HeldNode>> share) {
        boolean first = outcome.complete(share);
        if (first) {
            leave(false);
        }
        return first;
    }

    @Override
    public boolean giveUp() {
        boolean first = outcome.completeExceptionally(new CancellationException());
        if (first) {
            leave(true);
        }
        return first;
    }

    @Override
    public void fail(LockException why) {
        if (outcome.completeExceptionally(why)) {
            leave(true);
        }
    }

    private void leave(boolean withoutTheLock) {
        queues.requests().exit(this);
        LocalQueue left = queue.getAndSet(null);
        if (left != null) {
            left.onLeft(withoutTheLock);
        }
    }
}
