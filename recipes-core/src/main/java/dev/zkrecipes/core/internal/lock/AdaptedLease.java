// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.wire.Printable;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/** One hold of an {@link AdaptedLock}. */
final class AdaptedLease implements Lease {
    private final AdaptedLock lock;
    private final AdaptedGrant grant;
    private final Thread owner;
    private final AtomicReference<@Nullable LeaseState> closedAs = new AtomicReference<>();
    private final CompletableFuture<LeaseState> ended = new CompletableFuture<>();

    AdaptedLease(AdaptedLock lock, AdaptedGrant grant, Thread owner) {
        this.lock = lock;
        this.grant = grant;
        this.owner = owner;
        grant.attach(this);
    }

    AdaptedGrant grant() {
        return grant;
    }

    Thread owner() {
        return owner;
    }

    void onLost() {
        ended.complete(LeaseState.LOST);
    }

    void requireNotLost() {
        if (state() == LeaseState.LOST) {
            throw new LockLostException("lost the lock " + path()
                    + ": stop what it protects, close every lease of it, then acquire afresh");
        }
    }

    @Override
    public String path() {
        return lock.path();
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
        throw notKnown("has no fencing token");
    }

    @Override
    public Map<String, Long> fencingTokens() {
        throw notKnown("has no fencing token");
    }

    @Override
    public void verify() {
        throw notKnown("cannot be verified");
    }

    @Override
    public Op guard() {
        throw notKnown("has no guard");
    }

    @Override
    public List<Op> guards() {
        throw notKnown("has no guard");
    }

    private UnsupportedOperationException notKnown(String what) {
        return new UnsupportedOperationException("the lock " + path() + " is of another library, and its lease " + what
                + ": let a lock of this library protect what needs it");
    }

    @Override
    public void onLost(Runnable listener) {
        Objects.requireNonNull(listener, "listener");
        var unused = ended.thenAccept(state -> {
            if (state == LeaseState.LOST) {
                listener.run();
            }
        });
    }

    /** There are none: requests are written into nodes of ours. */
    @Override
    public void onRevocationRequested(Consumer<RevocationRequest> listener) {
        Objects.requireNonNull(listener, "listener");
    }

    @Override
    public CompletableFuture<LeaseState> ended() {
        return ended.copy();
    }

    @Override
    public void close() {
        if (closedAs.get() == null && owner != Thread.currentThread() && owner.isAlive()) {
            throw new IllegalMonitorStateException("this hold of the lock " + path() + " belongs to thread "
                    + Printable.of(owner.getName()) + ", which is alive: only that thread may close it");
        }
        LeaseState last = grant.state() == LeaseState.LOST ? LeaseState.LOST : LeaseState.RELEASED;
        if (!closedAs.compareAndSet(null, last)) {
            return;
        }
        grant.detach(this);
        try {
            if (lock.remove(this)) {
                grant.release();
            }
        } finally {
            ended.complete(last);
        }
    }

    /** Runs on the calling thread, which owns the hold. */
    @Override
    public CompletableFuture<Void> closeAsync() {
        try {
            close();
            return CompletableFuture.completedFuture(null);
        } catch (IllegalMonitorStateException e) {
            throw e;
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override
    public String toString() {
        return "Lease[" + path() + ", " + state() + "]";
    }
}
