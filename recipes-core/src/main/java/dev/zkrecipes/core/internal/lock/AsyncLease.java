// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.RevocationRequest;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;

/**
 * A hold that belongs to no thread, as applications have it. Only this object can give it back, so a hold that stands
 * without it is held for nothing. The hold of a thread needs none: {@code release()} gives it back without its lease.
 */
record AsyncLease(Hold hold) implements MultiLease {

    /**
     * Completes the future with the lease of a new hold, or closes the hold if nobody waits for it any more. The lease
     * will be in the queue when nobody has it any more, unless it was closed.
     */
    static void complete(CompletableFuture<Lease> future, Hold hold, ReferenceQueue<Lease> dropped) {
        boolean isTaken = false;
        try {
            AsyncLease lease = new AsyncLease(hold);
            hold.listeners().keep(new Dropped(lease, hold, dropped));
            isTaken = future.complete(lease);
        } finally {
            if (!isTaken) {
                hold.beginClosing(false);
            }
        }
    }

    /** Tells that nobody has the lease of a hold any more. */
    static final class Dropped extends WeakReference<Lease> {
        final Hold hold;

        private Dropped(AsyncLease lease, Hold hold, ReferenceQueue<Lease> dropped) {
            super(lease, dropped);
            this.hold = hold;
        }
    }

    @Override
    public String path() {
        return hold.path();
    }

    @Override
    public long fencingToken() {
        return hold.fencingToken();
    }

    @Override
    public Map<String, Long> fencingTokens() {
        return hold.fencingTokens();
    }

    @Override
    public LeaseState state() {
        return hold.state();
    }

    @Override
    public boolean isValid() {
        return hold.isValid();
    }

    @Override
    public void verify() throws InterruptedException {
        hold.verify();
    }

    @Override
    public boolean prolong(Duration most) {
        return hold.prolong(most);
    }

    @Override
    public Op guard() {
        return hold.guard();
    }

    @Override
    public List<Op> guards() {
        return hold.guards();
    }

    @Override
    public void onLost(Runnable listener) {
        hold.onLost(listener);
    }

    @Override
    public void onRevocationRequested(Consumer<RevocationRequest> listener) {
        hold.onRevocationRequested(listener);
    }

    @Override
    public CompletionStage<LeaseState> ended() {
        return hold.ended();
    }

    @Override
    public void close() {
        hold.close();
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        return hold.closeAsync();
    }

    @Override
    public String toString() {
        return hold.toString();
    }
}
