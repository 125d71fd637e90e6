// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.ThreadName;
import dev.zkrecipes.core.spi.ForeignLock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

/**
 * A lock held by threads that is not a single engine request: one of another library, or one composed of locks of
 * several clients. It keeps the holds of each thread as leases.
 */
public final class AdaptedLock implements InterProcessLock {
    private final ForeignLock foreign;
    private final Callbacks callbacks;
    private final AdaptedLeases open = new AdaptedLeases(); // those of one thread stand on one hold

    public AdaptedLock(ForeignLock foreign, Callbacks callbacks) {
        this.foreign = foreign;
        this.callbacks = callbacks;
    }

    @Override
    public String path() {
        return foreign.path();
    }

    @Override
    public Lease acquire() throws InterruptedException {
        Blocking.requireNoEventThread();
        Blocking.throwIfInterrupted();
        Optional<Lease> again = reenter();
        return again.isPresent() ? again.get() : begin(foreign.acquire());
    }

    @Override
    public Optional<Lease> tryAcquire() {
        Blocking.requireNoEventThread();
        Optional<Lease> again = reenter();
        return again.isPresent()
                ? again
                : Blocking.uninterruptibly(() -> foreign.tryAcquire(Duration.ZERO))
                        .map(this::begin);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        Blocking.requireNotNegative(timeout);
        Blocking.requireNoEventThread();
        Blocking.throwIfInterrupted();
        if (timeout.isZero()) {
            return tryAcquire();
        }
        Optional<Lease> again = reenter();
        return again.isPresent() ? again : foreign.tryAcquire(timeout).map(this::begin);
    }

    private Optional<Lease> reenter() {
        return Optional.ofNullable(open.mine().peekFirst()).map(youngest -> {
            youngest.requireNotLost();
            return add(new AdaptedLease(path(), youngest.grant(), callbacks, open::forget));
        });
    }

    private Lease begin(ForeignLock.Hold hold) {
        AdaptedLease.Grant grant = new AdaptedLease.Grant(hold);
        try {
            Thread owner = Thread.currentThread();
            hold.onLost(() -> {
                grant.tellOfLoss();
                open.onLost(owner);
            });
            return add(new AdaptedLease(path(), grant, callbacks, open::forget));
        } catch (RuntimeException | Error e) {
            try {
                hold.release();
            } catch (RuntimeException | Error failure) {
                if (failure != e) {
                    e.addSuppressed(failure);
                }
            }
            throw e;
        }
    }

    private AdaptedLease add(AdaptedLease lease) {
        open.add(lease);
        return lease;
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        throw new UnsupportedOperationException(
                "the lock " + path() + " is of another library or of several clients, so its"
                        + " leases belong to the thread that acquires them: use acquire or tryAcquire");
    }

    @Override
    public void release() {
        AdaptedLease youngest = open.mine().peekFirst();
        if (youngest == null) {
            throw new IllegalMonitorStateException(
                    "thread " + ThreadName.ofCaller() + " does not hold the lock " + path());
        }
        youngest.close();
        if (youngest.state() == LeaseState.LOST) {
            youngest.requireNotLost();
        }
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return open.mine().stream().anyMatch(AdaptedLock::isNotLost);
    }

    @Override
    public int holdCount() {
        return open.mine().size();
    }

    @Override
    public boolean isAcquiredInThisProcess() {
        return open.all().anyMatch(AdaptedLock::isNotLost);
    }

    private static boolean isNotLost(AdaptedLease lease) {
        return lease.state() != LeaseState.LOST;
    }

    @Override
    public List<Participant> participants() throws InterruptedException {
        return foreign.participants();
    }

    @Override
    public Lock asLock() {
        return JucLock.of(this);
    }

    @Override
    public String toString() {
        AdaptedLease youngest = open.mine().peekFirst();
        return path() + ", " + (youngest == null ? "not held by this thread" : youngest) + ", " + foreign;
    }
}
