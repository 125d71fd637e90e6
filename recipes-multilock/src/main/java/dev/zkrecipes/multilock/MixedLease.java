// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.RevocationRequest;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/** One hold of a {@link MixedLock}. */
final class MixedLease implements Lease {
    private final MixedGrant grant;
    private final MixedHolds holds;
    private final Thread owner;
    private final AtomicReference<@Nullable LeaseState> closedAs = new AtomicReference<>();
    private final CompletableFuture<LeaseState> ended = new CompletableFuture<>();
    private volatile CompletableFuture<Void> givenBack = CompletableFuture.completedFuture(null);

    MixedLease(MixedGrant grant, MixedHolds holds, Thread owner) {
        this.grant = grant;
        this.holds = holds;
        this.owner = owner;
        // The leases tell on the callback executors of their clients.
        grant.leases().forEach(lease -> lease.onLost(() -> ended.complete(LeaseState.LOST)));
    }

    MixedGrant grant() {
        return grant;
    }

    Thread owner() {
        return owner;
    }

    void requireNotLost() {
        grant.requireNotLost();
    }

    @Override
    public String path() {
        return grant.path();
    }

    @Override
    public long fencingToken() {
        requireNotLost();
        Set<Long> tokens = new HashSet<>(grant.fencingTokens().values());
        if (tokens.size() > 1) {
            throw new IllegalStateException("the members of the multi-lock " + path()
                    + " were not entered together, so they have no token in common: see fencingTokens()");
        }
        return tokens.iterator().next();
    }

    @Override
    public Map<String, Long> fencingTokens() {
        requireNotLost();
        return grant.fencingTokens();
    }

    @Override
    public LeaseState state() {
        LeaseState closed = closedAs.get();
        return closed != null ? closed : grant.state();
    }

    @Override
    public boolean isValid() {
        return state() == LeaseState.HELD;
    }

    @Override
    public void verify() throws InterruptedException {
        requireOpen();
        grant.verify();
    }

    @Override
    public Op guard() {
        List<Op> all = guards();
        if (all.size() > 1) {
            throw new IllegalStateException("the lease of " + path() + " stands on " + all.size()
                    + " nodes, which one operation cannot check: put all of guards() into the multi");
        }
        return all.get(0);
    }

    @Override
    public List<Op> guards() {
        requireOpen();
        return grant.guards();
    }

    private void requireOpen() {
        requireNotLost();
        if (closedAs.get() != null) {
            throw new IllegalMonitorStateException("this hold of the multi-lock " + path() + " is closed");
        }
    }

    @Override
    public void onLost(Runnable listener) {
        var unused = ended.thenAccept(state -> {
            if (state == LeaseState.LOST) {
                listener.run();
            }
        });
    }

    /** The leases tell on the callback executors of their clients; what asks for several of them is told once. */
    @Override
    public void onRevocationRequested(Consumer<RevocationRequest> listener) {
        Objects.requireNonNull(listener, "listener");
        Set<String> told = ConcurrentHashMap.newKeySet();
        grant.leases()
                .forEach(lease -> lease.onRevocationRequested(request -> {
                    if (closedAs.get() == null && grant.state() != LeaseState.LOST && told.add(request.id())) {
                        listener.accept(request);
                    }
                }));
    }

    @Override
    public CompletableFuture<LeaseState> ended() {
        return ended.copy();
    }

    @Override
    public void close() {
        if (isLastToClose()) {
            grant.giveBack();
        }
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        if (isLastToClose()) {
            givenBack = grant.giveBackAsync();
        }
        return givenBack.copy();
    }

    /** Closes the hold; returns whether that was the last one, and this call that closed it. */
    private boolean isLastToClose() {
        if (closedAs.get() == null && owner != Thread.currentThread() && owner.isAlive()) {
            throw new IllegalMonitorStateException("this hold of the multi-lock " + path() + " belongs to thread "
                    + owner.getName() + ", which is alive: only that thread may close it");
        }
        LeaseState last = grant.state() == LeaseState.LOST ? LeaseState.LOST : LeaseState.RELEASED;
        if (!closedAs.compareAndSet(null, last)) {
            return false;
        }
        ended.complete(last);
        return holds.close(this);
    }
}
