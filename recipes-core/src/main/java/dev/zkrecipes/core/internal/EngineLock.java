// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.Participant;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The blocking and the asynchronous API over attempts, and the record of who holds what. Thread-safe. */
public final class EngineLock implements InterProcessLock {
    private static final Logger log = LoggerFactory.getLogger(EngineLock.class);

    private final LockTarget target;
    private final EngineClient client;
    private final HoldTable holds;
    private final Set<HeldLease> ownerless = ConcurrentHashMap.newKeySet();

    private EngineLock(LockTarget target, HoldTable holds) {
        this.target = target;
        this.client = target.client();
        this.holds = holds;
    }

    /** A lock that is held by threads, re-entrantly. */
    public static EngineLock threadOwned(LockTarget target) {
        return new EngineLock(target, new HoldTable.PerThread());
    }

    /** A lock that is held by the instance. */
    public static EngineLock instanceOwned(LockTarget target) {
        return new EngineLock(target, new HoldTable.PerInstance());
    }

    @Override
    public String path() {
        return target.path();
    }

    // ---- Acquiring.

    @Override
    public Lease acquire() throws InterruptedException {
        Blocking.requireMayBlock(client);
        throwIfInterrupted();
        Lease again = reenter();
        if (again != null) {
            return again;
        }
        Attempt attempt = begin(Attempt.Mode.QUEUE);
        try {
            return hold(Blocking.await(attempt.outcome()).orElseThrow());
        } catch (InterruptedException e) {
            return leaveOrHold(attempt, e);
        }
    }

    @Override
    public Optional<Lease> tryAcquire() {
        Blocking.requireMayBlock(client);
        Lease again = reenter();
        if (again != null) {
            return Optional.of(again);
        }
        Attempt attempt = begin(Attempt.Mode.TRY);
        Deadline deadline = Deadline.after(client.requestTimeout(), client.scheduler());
        Optional<Optional<Grant>> outcome = Blocking.uninterruptibly(() -> Blocking.await(attempt.outcome(), deadline));
        if (outcome.isEmpty() && attempt.giveUp()) {
            throw new LockConnectionException("no answer from ZooKeeper within " + client.requestTimeout()
                    + ", so it is not known whether the lock " + path() + " is free; try again");
        }
        return Blocking.uninterruptibly(() -> Blocking.await(attempt.outcome())).map(this::hold);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        Deadline deadline = Deadline.after(timeout, client.scheduler());
        Blocking.requireNotNegative(timeout);
        Blocking.requireMayBlock(client);
        throwIfInterrupted();
        if (timeout.isZero()) {
            return tryAcquire();
        }
        Lease again = reenter();
        if (again != null) {
            return Optional.of(again);
        }
        Attempt attempt = begin(Attempt.Mode.QUEUE);
        try {
            if (Blocking.await(attempt.outcome(), deadline).isEmpty() && attempt.giveUp()) {
                return Optional.empty();
            }
            return Blocking.await(attempt.outcome()).map(this::hold);
        } catch (InterruptedException e) {
            return Optional.of(leaveOrHold(attempt, e));
        }
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        CompletableFuture<Lease> future = new CompletableFuture<>();
        Attempt attempt = begin(Attempt.Mode.QUEUE);
        Completion.on(attempt.outcome(), (outcome, failure) -> {
            Grant grant = outcome == null ? null : outcome.orElseThrow();
            client.callbacks().run(() -> deliver(future, grant, failure));
        });
        // However the future ends, if not with the grant, the attempt leaves the queue.
        Completion.on(future, (lease, failure) -> attempt.giveUp());
        return future;
    }

    /** As {@link #acquire()}, but waits on when interrupted and keeps the flag. */
    Lease acquireUninterruptibly() {
        Blocking.requireMayBlock(client);
        Lease again = reenter();
        if (again != null) {
            return again;
        }
        Attempt attempt = begin(Attempt.Mode.QUEUE);
        return hold(Blocking.uninterruptibly(() -> Blocking.await(attempt.outcome()))
                .orElseThrow());
    }

    private Attempt begin(Attempt.Mode mode) {
        Attempt attempt = new Attempt(target, mode, this::warnOfDeadOwners);
        attempt.launch();
        return attempt;
    }

    private @Nullable Lease reenter() {
        client.requireOpenFor(path());
        Grant grant = holds.toReenter();
        return grant == null ? null : hold(grant);
    }

    /** Records a hold of the caller on the grant. */
    private Lease hold(Grant grant) {
        LockData data = holds.mineToOpen();
        HeldLease lease = new HeldLease(client, this, grant, data);
        data.opened(lease);
        return lease;
    }

    /** After an interruption: nothing is acquired, unless the grant came first; then the flag tells of it. */
    private Lease leaveOrHold(Attempt attempt, InterruptedException interruption) throws InterruptedException {
        if (attempt.giveUp()) {
            throw interruption;
        }
        Grant granted = attempt.outcome()
                .handle((outcome, failure) -> failure == null ? outcome.orElse(null) : null)
                .join();
        if (granted == null) {
            throw interruption;
        }
        Thread.currentThread().interrupt();
        return hold(granted);
    }

    private void deliver(CompletableFuture<Lease> future, @Nullable Grant grant, @Nullable Throwable failure) {
        if (grant == null) {
            future.completeExceptionally(Objects.requireNonNull(failure));
            return;
        }
        HeldLease lease = new HeldLease(client, this, grant, null);
        ownerless.add(lease);
        if (!future.complete(lease)) {
            lease.beginClosing();
        }
    }

    private static void throwIfInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    // ---- Giving back.

    @Override
    public void release() {
        LockData mine = holds.mine();
        HeldLease lease;
        do {
            lease = mine == null ? null : mine.toRelease();
            if (lease == null) {
                throw new IllegalMonitorStateException(
                        "thread " + Thread.currentThread().getName() + " does not hold the lock " + path());
            }
        } while (!lease.beginClosing()); // somebody else closed that one just now: the next
        awaitRelease(lease.givenBack());
        if (lease.state() == LeaseState.LOST) {
            throw lease.grant().lost();
        }
    }

    /** Takes a hold that was closed from the record; releases the grant if it was the last one on it. */
    CompletableFuture<Void> giveBack(HeldLease lease) {
        LockData data = lease.data();
        ownerless.remove(lease);
        if (data != null) {
            data.closed(lease);
            if (data.isEmpty()) {
                holds.forget(data);
            }
            if (data.needs(lease.grant())) {
                return CompletableFuture.completedFuture(null);
            }
        }
        return lease.grant().release();
    }

    /** A hold's grant has ended: the record of a dead owner is of no more use. On the engine thread. */
    void onHoldEnded(HeldLease lease) {
        LockData data = lease.data();
        if (data != null && data.isForgettable()) {
            holds.forget(data);
        }
    }

    /** Waits for ZooKeeper's word that the node is gone, as long as there is somebody to give it. */
    void awaitRelease(CompletableFuture<Void> givenBack) {
        if (Blocking.mayBlock(client) && client.connectionState() == ConnectionState.CONNECTED) {
            Blocking.awaitQuietly(givenBack, Deadline.after(client.requestTimeout(), client.scheduler()));
        }
    }

    // ---- Asking.

    @Override
    public boolean isHeldByCurrentThread() {
        LockData mine = holds.mine();
        return mine != null && mine.isHeld();
    }

    @Override
    public int holdCount() {
        LockData mine = holds.mine();
        return mine == null ? 0 : mine.count();
    }

    @Override
    public boolean isAcquiredInThisProcess() {
        return holds.all().stream().anyMatch(LockData::isHeld)
                || ownerless.stream().anyMatch(HeldLease::isStanding);
    }

    @Override
    public List<Participant> participants() throws InterruptedException {
        Blocking.requireMayBlock(client);
        throwIfInterrupted();
        client.requireOpenFor(path());
        CompletableFuture<List<Participant>> answer = new ParticipantQuery(target).launch();
        return Blocking.await(answer, Deadline.after(client.requestTimeout(), client.scheduler()))
                .orElseThrow(() -> new LockConnectionException("no answer from ZooKeeper within "
                        + client.requestTimeout() + " to who takes part in the lock " + path() + "; ask again"));
    }

    @Override
    public Lock asLock() {
        return new JucLock(this);
    }

    private void warnOfDeadOwners() {
        holds.all().stream().filter(LockData::isForgettable).toList().forEach(holds::forget);
        holds.all().stream()
                .filter(LockData::isNewlyOrphaned)
                .forEach(data -> log.warn(
                        "Thread {} ended while it held the lock {}. It stays locked until a lease of it is closed, which any"
                                + " thread may do now, or the client is. Close leases with try-with-resources.",
                        Printable.of(data.ownerName()),
                        path()));
    }
}
