// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.spi.ThreadName;
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
    private final CompletableFuture<Void> givenBack = new CompletableFuture<>();

    MixedLease(MixedGrant grant, MixedHolds holds, Thread owner) {
        this.grant = grant;
        this.holds = holds;
        this.owner = owner;
        grant.attach(this);
    }

    void onGrantLost() {
        ended.complete(LeaseState.LOST);
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
        requireOpen();
        throw new IllegalStateException("the members of the multi-lock " + path()
                + " were not entered together, so they have no token in common: see fencingTokens()");
    }

    @Override
    public Map<String, Long> fencingTokens() {
        requireOpen();
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

    @Override
    public String toString() {
        return "Lease[" + path() + ", " + state() + ", of " + grant.leases() + "]";
    }

    private void requireOpen() {
        requireNotLost();
        if (closedAs.get() != null) {
            throw new IllegalMonitorStateException("this hold of the multi-lock " + path() + " is closed");
        }
    }

    @Override
    public void onLost(Runnable listener) {
        Objects.requireNonNull(listener, "listener");
        var unused = ended.thenAccept(state -> {
            if (state == LeaseState.LOST) {
                grant.tellLoss(listener);
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
        end(grant::giveBack);
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        end(() -> {});
        return givenBack.copy();
    }

    /**
     * Closes the hold, once. With the last one on the grant the members are given back.
     *
     * @param waiting gives them back and waits for that
     */
    private void end(Runnable waiting) {
        if (closedAs.get() == null && owner != Thread.currentThread() && owner.isAlive()) {
            throw new IllegalMonitorStateException("this hold of the multi-lock " + path() + " belongs to thread "
                    + ThreadName.of(owner) + ", which is alive: only that thread may close it");
        }
        LeaseState last = grant.state() == LeaseState.LOST ? LeaseState.LOST : LeaseState.RELEASED;
        if (!closedAs.compareAndSet(null, last)) {
            return;
        }
        grant.detach(this);
        CompletableFuture<Void> gone = CompletableFuture.completedFuture(null);
        try {
            if (holds.close(this)) {
                try {
                    waiting.run();
                } finally {
                    gone = grant.giveBackAsync();
                }
            }
        } finally {
            var unused = gone.whenComplete((nothing, failure) -> {
                if (failure == null) {
                    givenBack.complete(null);
                } else {
                    givenBack.completeExceptionally(failure);
                }
            });
            ended.complete(last);
        }
    }
}
