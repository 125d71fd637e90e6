// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request that waits in a {@link LocalQueue}, without a node of its own. The first to complete its outcome decides:
 * the holder by passing a node on, or the caller by giving up. Any thread.
 */
final class LocalRequest implements Acquisition {

    /** Where it waits. */
    interface Place {
        /** Whether the lock was seen to be held. */
        boolean isBusy();

        /** Why there is no session to ask in, if that is known. */
        Optional<LockException> obstacle();

        /** It has ended. */
        void onLeft(boolean withoutTheLock);
    }

    private final Requests requests;
    private final LockGroup group;
    private final boolean isAsynchronous;
    private final CompletableFuture<Optional<List<HeldNode>>> outcome = new CompletableFuture<>();
    private final Consumer<LocalRequest> join;
    private final AtomicReference<@Nullable Place> place = new AtomicReference<>(); // null unless it waits there

    /**
     * Makes one that waits nowhere.
     *
     * @param isAsynchronous whether user code depends on its outcome, so that the engine thread must complete it
     * @param join gives it a place in a queue
     */
    LocalRequest(Requests requests, LockGroup group, boolean isAsynchronous, Consumer<LocalRequest> join) {
        this.requests = requests;
        this.group = group;
        this.isAsynchronous = isAsynchronous;
        this.join = join;
    }

    /** Whether user code depends on its outcome, so that the engine thread must complete it. */
    boolean isAsynchronous() {
        return isAsynchronous;
    }

    boolean isOver() {
        return outcome.isDone();
    }

    @Override
    public String lockPath() {
        return group.path();
    }

    @Override
    public List<String> paths() {
        return group.paths();
    }

    @Override
    public CompletableFuture<Optional<List<HeldNode>>> outcome() {
        return outcome;
    }

    @Override
    public void launch() {
        requests.enter(this);
        if (!outcome.isDone()) { // else the client is closed
            join.accept(this);
        }
    }

    /** It is counted in this queue until it leaves. */
    void stands(Place in) {
        place.set(in);
    }

    /** It may have ended before it stood there. */
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
    public boolean wasSeenBusy() {
        Place stands = place.get();
        return stands != null && stands.isBusy();
    }

    @Override
    public Optional<LockException> obstacle() {
        Place stands = place.get();
        return stands == null ? Optional.empty() : stands.obstacle();
    }

    @Override
    public boolean giveUp() {
        if (isOver()) {
            return false; // no exception is made for nothing
        }
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
        requests.exit(this);
        Place left = place.getAndSet(null);
        if (left != null) {
            left.onLeft(withoutTheLock);
        }
    }
}
