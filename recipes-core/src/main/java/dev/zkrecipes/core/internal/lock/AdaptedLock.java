// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockObserver.Ending;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.ThreadName;
import dev.zkrecipes.core.spi.ForeignLock;
import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A lock held by threads that is not a single engine request: one of another library, or one composed of locks of
 * several clients. It keeps the holds of each thread as leases.
 */
public final class AdaptedLock implements InterProcessLock {
    private final ForeignLock foreign;
    private final Callbacks callbacks;
    private final @Nullable LockHost client;
    private final LockOptions options;
    private final AdaptedLeases open = new AdaptedLeases(); // those of one thread stand on one hold

    public AdaptedLock(ForeignLock foreign, Callbacks callbacks) {
        this(foreign, callbacks, null, LockOptions.defaults());
    }

    /** One that works on the client. */
    public AdaptedLock(ForeignLock foreign, LockHost client, LockOptions options) {
        this(foreign, client.callbacks(), client, options);
    }

    private AdaptedLock(ForeignLock foreign, Callbacks callbacks, @Nullable LockHost client, LockOptions options) {
        this.foreign = foreign;
        this.callbacks = callbacks;
        this.client = client;
        this.options = options;
    }

    @Override
    public String path() {
        return foreign.path();
    }

    @Override
    public Lease acquire() throws InterruptedException {
        requireMayBlock();
        Blocking.throwIfInterrupted();
        Optional<Lease> again = reenter();
        return again.isPresent()
                ? again.get()
                : request(() -> Optional.of(foreign.acquire()), Ending.FAILED).orElseThrow();
    }

    @Override
    public Optional<Lease> tryAcquire() {
        requireMayBlock();
        Optional<Lease> again = reenter();
        return again.isPresent()
                ? again
                : Blocking.uninterruptibly(() -> request(() -> foreign.tryAcquire(Duration.ZERO), Ending.BUSY));
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        Blocking.requireNotNegative(timeout);
        requireMayBlock();
        Blocking.throwIfInterrupted();
        if (timeout.isZero()) {
            return tryAcquire();
        }
        Optional<Lease> again = reenter();
        return again.isPresent() ? again : request(() -> foreign.tryAcquire(timeout), Ending.TIMED_OUT);
    }

    private void requireMayBlock() {
        if (client == null) {
            Blocking.requireNoEventThread();
        } else {
            Blocking.requireMayBlock(client.scheduler());
        }
    }

    private Optional<Lease> reenter() {
        if (client != null) {
            client.requireOpenFor(path());
        }
        return Optional.ofNullable(open.mine().peekFirst()).map(youngest -> {
            youngest.requireNotLost();
            return add(youngest.grant(), Thread.currentThread());
        });
    }

    private Optional<Lease> request(Blocking.Wait<Optional<ForeignLock.Hold>> acquire, Ending otherwise)
            throws InterruptedException {
        ObservedRequest observed = observed();
        try {
            Optional<Lease> lease = acquire.await().map(hold -> begin(hold, Thread.currentThread(), observed));
            if (observed != null) {
                observed.over(otherwise); // unless it was granted
            }
            return lease;
        } catch (Throwable t) {
            if (observed != null) {
                observed.failed(t);
            }
            throw t;
        }
    }

    private @Nullable ObservedRequest observed() {
        return client == null ? null : ObservedRequest.begin(client, path(), options.name());
    }

    private Lease begin(ForeignLock.Hold acquired, @Nullable Thread owner, @Nullable ObservedRequest observed) {
        ForeignLock.Hold hold =
                client == null ? acquired : new ForeignHeld(path(), acquired, client, options, observed);
        AdaptedLease.Grant grant = new AdaptedLease.Grant(hold);
        try {
            hold.onLost(() -> {
                grant.tellOfLoss();
                open.onLost(owner);
            });
            Lease lease = add(grant, owner);
            if (hold instanceof ForeignHeld held) {
                held.begin();
            }
            return lease;
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

    private Lease add(AdaptedLease.Grant grant, @Nullable Thread owner) {
        AdaptedLease lease = new AdaptedLease(path(), grant, owner, callbacks, open::forget);
        open.add(lease);
        return lease;
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        if (client != null) {
            client.requireOpenFor(path());
        }
        CompletableFuture<ForeignLock.Hold> request = foreign.acquireAsync();
        ObservedRequest observed = observed();
        CompletableFuture<Lease> future = new CompletableFuture<>();
        Completion.on(request, (hold, failure) -> callbacks.run(() -> deliver(hold, failure, observed, future)));
        Completion.on(future, (lease, failure) -> request.cancel(false));
        return future;
    }

    private void deliver(
            ForeignLock.@Nullable Hold hold,
            @Nullable Throwable failure,
            @Nullable ObservedRequest observed,
            CompletableFuture<Lease> future) {
        try {
            if (hold == null) {
                throw Objects.requireNonNull(failure);
            }
            Lease lease = begin(hold, null, observed);
            if (!future.complete(lease)) {
                var unused = lease.closeAsync();
            }
        } catch (Throwable t) {
            if (observed != null) {
                observed.failed(t);
            }
            future.completeExceptionally(t);
        }
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
        private final Map<Object, Deque<AdaptedLease>> open = new ConcurrentHashMap<>();

        /** Twice as many threads as were left the last time, so that a look costs each of them little. */
        private volatile int many = FEW;

        private static final Object NOBODY = new Object();

        private static Object key(@Nullable Thread owner) {
            return owner == null ? NOBODY : owner;
        }

        void add(AdaptedLease lease) {
            open.computeIfAbsent(key(lease.owner()), thread -> new ConcurrentLinkedDeque<>())
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
                open.remove(key(lease.owner()), ofOwner);
            }
        }

        /** A thread's lock was lost. */
        void onLost(@Nullable Thread owner) {
            Deque<AdaptedLease> lost = of(owner);
            if (areLeftBehind(owner, lost)) {
                open.remove(key(owner), lost);
            }
        }

        /** A dead thread adds none, so this stays so. */
        private static boolean areLeftBehind(@Nullable Object owner, Deque<AdaptedLease> leases) {
            return owner instanceof Thread thread
                    && !thread.isAlive()
                    && leases.stream().allMatch(AdaptedLease::hasEnded);
        }

        /** The calling thread's, the youngest first. */
        Deque<AdaptedLease> mine() {
            return of(Thread.currentThread());
        }

        private Deque<AdaptedLease> of(@Nullable Thread owner) {
            return open.getOrDefault(key(owner), new ConcurrentLinkedDeque<>());
        }

        Stream<AdaptedLease> all() {
            return open.values().stream().flatMap(Deque::stream);
        }
    }
}
