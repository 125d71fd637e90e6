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
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;

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

    /**
     * The open leases, by their threads. Thread-safe.
     *
     * <p>A thread that dies may leave leases behind that nobody closes. As long as they stand they belong here, since
     * the lock is held. Lost ones are forgotten: at the loss, or, if the thread outlives the loss, when there are many
     * threads.
     */
    private static final class AdaptedLeases {
        private static final int FEW = 16;

        /** The leases of each thread, the youngest first. */
        private final Map<Thread, Deque<AdaptedLease>> open = new ConcurrentHashMap<>();

        /** Twice as many threads as were left the last time, so that a look costs each of them little. */
        private volatile int many = FEW;

        /** A lease of the calling thread. */
        void add(AdaptedLease lease) {
            open.computeIfAbsent(lease.owner(), thread -> new ConcurrentLinkedDeque<>())
                    .addFirst(lease);
            if (open.size() > many) {
                open.entrySet().removeIf(each -> areLeftBehind(each.getKey(), each.getValue()));
                many = Math.max(FEW, 2 * open.size());
            }
        }

        /** Takes a closed lease away. */
        void forget(AdaptedLease lease) {
            Deque<AdaptedLease> ofOwner = of(lease.owner());
            ofOwner.remove(lease);
            if (ofOwner.isEmpty()) {
                open.remove(lease.owner(), ofOwner);
            }
        }

        /** A thread's lock was lost. */
        void onLost(Thread owner) {
            Deque<AdaptedLease> lost = of(owner);
            if (areLeftBehind(owner, lost)) {
                open.remove(owner, lost);
            }
        }

        /** A dead thread adds none, so this stays so. */
        private static boolean areLeftBehind(Thread owner, Deque<AdaptedLease> leases) {
            return !owner.isAlive() && leases.stream().allMatch(AdaptedLease::hasEnded);
        }

        /** The calling thread's, the youngest first. */
        Deque<AdaptedLease> mine() {
            return of(Thread.currentThread());
        }

        private Deque<AdaptedLease> of(Thread owner) {
            return open.getOrDefault(owner, new ConcurrentLinkedDeque<>());
        }

        Stream<AdaptedLease> all() {
            return open.values().stream().flatMap(Deque::stream);
        }
    }
}
