// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.ThreadName;
import dev.zkrecipes.core.spi.ForeignLock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/** One hold of an {@link AdaptedLock}. */
final class AdaptedLease implements Lease {
    private final String path;
    private final Grant grant;
    private final @Nullable Thread owner; // null if it belongs to no thread
    private final Consumer<AdaptedLease> whenClosed;
    private final AtomicReference<@Nullable LeaseState> closedAs = new AtomicReference<>();
    private final HoldFutures futures;

    /**
     * A hold of the thread, or of nobody.
     *
     * @param whenClosed told when it is closed, before the lock is given back with the last one
     */
    AdaptedLease(
            String path, Grant grant, @Nullable Thread owner, Callbacks callbacks, Consumer<AdaptedLease> whenClosed) {
        this.path = path;
        this.grant = grant;
        this.owner = owner;
        this.whenClosed = whenClosed;
        this.futures = new HoldFutures(callbacks);
        grant.attach(this);
    }

    Grant grant() {
        return grant;
    }

    @Nullable
    Thread owner() {
        return owner;
    }

    private void onGrantLost() {
        futures.end(LeaseState.LOST);
    }

    /** Whether it is closed, or was told of a loss. */
    boolean hasEnded() {
        return futures.hasEnded();
    }

    void requireNotLost() {
        if (grant.hold() instanceof ForeignHeld held && closedAs.get() == null) {
            held.requireInTime();
        }
        if (state() == LeaseState.LOST) {
            throw new LockLostException("lost the lock " + path()
                    + ": stop what it protects, close every lease of it, then acquire afresh");
        }
    }

    @Override
    public String path() {
        return path;
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
    public long fencingToken() {
        Map<String, Long> tokens = fencingTokens();
        if (tokens.size() > 1) {
            throw new IllegalStateException("the members of the multi-lock " + path()
                    + " were not entered together, so they have no token in common: see fencingTokens()");
        }
        return tokens.values().iterator().next();
    }

    @Override
    public Map<String, Long> fencingTokens() {
        return open().fencingTokens();
    }

    @Override
    public void verify() throws InterruptedException {
        open().verify();
        var unused = open(); // a member may be lost while another one is verified
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
        return open().guards();
    }

    /** What the lease stands on, if it is open. */
    private ForeignLock.Hold open() {
        requireNotLost();
        if (closedAs.get() != null) {
            throw new IllegalMonitorStateException("this hold of the lock " + path() + " is closed");
        }
        return grant.hold();
    }

    @Override
    public void onLost(Runnable listener) {
        futures.onLost(listener);
    }

    /** A lock of another library has none: requests are written into nodes of ours. */
    @Override
    public void onRevocationRequested(Consumer<RevocationRequest> listener) {
        Objects.requireNonNull(listener, "listener");
        grant.hold().onRevocationRequested(request -> {
            if (closedAs.get() == null) {
                listener.accept(request);
            }
        });
    }

    @Override
    public CompletionStage<LeaseState> ended() {
        return futures.ended();
    }

    @Override
    public void close() {
        requireOwner();
        end(ForeignLock.Hold::release);
    }

    /** A lock of another library is given back on the calling thread, to which it belongs. */
    @Override
    public CompletableFuture<Void> closeAsync() {
        requireOwner();
        try {
            end(ForeignLock.Hold::releaseInBackground);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
        return futures.released();
    }

    private void requireOwner() {
        if (closedAs.get() == null && owner != null && owner != Thread.currentThread() && owner.isAlive()) {
            throw new IllegalMonitorStateException("this hold of the lock " + path() + " belongs to thread "
                    + ThreadName.of(owner) + ", which is alive: only that thread may close it");
        }
    }

    /** Closes the hold, once; with the last one on the grant the lock is given back. */
    private void end(Consumer<ForeignLock.Hold> giveBack) {
        LeaseState last = grant.state() == LeaseState.LOST ? LeaseState.LOST : LeaseState.RELEASED;
        if (!closedAs.compareAndSet(null, last)) {
            return;
        }
        whenClosed.accept(this);
        boolean wasLast = grant.detach(this);
        try {
            if (wasLast) {
                giveBack.accept(grant.hold());
            }
        } catch (RuntimeException | Error e) {
            futures.givenBackWith(CompletableFuture.failedFuture(e));
            throw e;
        } finally {
            futures.givenBackWith(wasLast ? grant.hold().released() : CompletableFuture.completedFuture(null));
            futures.end(last);
        }
    }

    @Override
    public String toString() {
        return "Lease[" + path() + ", " + state() + ", of " + grant.hold() + "]";
    }

    /** What a thread has of the lock; all its re-entrant leases stand on it. */
    static final class Grant {
        private final ForeignLock.Hold hold;
        private final Set<AdaptedLease> leases = ConcurrentHashMap.newKeySet();
        /** The leases that stand on it. A count, as several threads may close the leases of a dead one. */
        private final AtomicInteger open = new AtomicInteger();

        Grant(ForeignLock.Hold hold) {
            this.hold = hold;
        }

        ForeignLock.Hold hold() {
            return hold;
        }

        LeaseState state() {
            return hold.state();
        }

        /** Tells the lease of a loss, unless it is detached before. */
        void attach(AdaptedLease lease) {
            open.incrementAndGet();
            leases.add(lease);
            try {
                if (state() == LeaseState.LOST) {
                    lease.onGrantLost();
                }
            } catch (RuntimeException | Error e) {
                detach(lease);
                throw e;
            }
        }

        /** Returns whether this was the last lease, with which the lock is to be given back. */
        boolean detach(AdaptedLease lease) {
            leases.remove(lease);
            return open.decrementAndGet() == 0;
        }

        void tellOfLoss() {
            leases.forEach(AdaptedLease::onGrantLost);
        }
    }
}
