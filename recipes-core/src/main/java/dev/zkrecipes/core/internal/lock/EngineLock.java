// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.internal.acquire.AcquireLoop;
import dev.zkrecipes.core.internal.acquire.Acquisition;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.acquire.Downgrade;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.wire.Printable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The blocking and the asynchronous API over attempts, and the record of who holds what. Thread-safe. */
public final class EngineLock implements InterProcessLock {
    private static final Logger log = LoggerFactory.getLogger(EngineLock.class);

    private final LockGroup targets;
    private final EngineClient client;
    private final HoldTable holds;
    private final @Nullable LockModes modes;
    private final Set<Hold> ownerless = ConcurrentHashMap.newKeySet();

    private EngineLock(LockGroup targets, HoldTable holds, @Nullable LockModes modes) {
        this.targets = targets;
        this.client = targets.client();
        this.holds = holds;
        this.modes = modes;
    }

    /** A lock that is held by threads, re-entrantly. */
    public static EngineLock threadOwned(LockSpec target) {
        return threadOwned(LockGroup.of(target), null);
    }

    /** One of the two modes of a lock, held by threads, re-entrantly. */
    public static EngineLock mode(LockSpec target, LockModes modes) {
        return threadOwned(LockGroup.of(target), modes);
    }

    /**
     * Several locks as one, held by threads, re-entrantly.
     *
     * @throws IllegalArgumentException if they cannot be
     */
    public static EngineLock together(List<EngineLock> members, LockOptions options) {
        List<LockSpec> all = members.stream()
                .flatMap(member -> member.targets.all().stream())
                .toList();
        return threadOwned(LockGroup.together(all, options), null);
    }

    private static EngineLock threadOwned(LockGroup targets, @Nullable LockModes modes) {
        return new EngineLock(targets, new HoldTable.PerThread(targets.client().threadHolds(), targets), modes);
    }

    /** A lock that is held by the instance, once at a time. */
    public static EngineLock instanceOwned(LockSpec target) {
        return new EngineLock(LockGroup.of(target), new HoldTable.PerInstance(true), null);
    }

    /** A lock that is held by the instance, any number of times, as the driver allows. */
    public static EngineLock unowned(LockSpec target) {
        return new EngineLock(LockGroup.of(target), new HoldTable.PerInstance(false), null);
    }

    @Override
    public String path() {
        return targets.path();
    }

    public EngineClient client() {
        return client;
    }

    public boolean isSingle() {
        return targets.isSingle();
    }

    // ---- Acquiring.

    /**
     * Refuses what the calling thread holds a part of, or holds another way; what it holds as it is, it may acquire again.
     *
     * @throws dev.zkrecipes.core.LockLostException if what it holds is lost
     * @throws dev.zkrecipes.core.LockRefusedException if it would wait for itself
     */
    public void requireNotHeldInPart() {
        var unused = holds.toReenter();
    }

    @Override
    public Lease acquire() throws InterruptedException {
        Blocking.requireMayBlock(client);
        Blocking.throwIfInterrupted();
        Lease again = reenter();
        if (again != null) {
            return again;
        }
        Acquisition attempt = begin(Mode.QUEUE);
        try {
            return hold(Blocking.await(attempt.outcome(), client.scheduler()).orElseThrow());
        } catch (InterruptedException e) {
            return leaveOrHold(attempt, e);
        }
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return tryAtOnce(client.requestTimeout());
    }

    /** The same with another limit than the request time-out, if that is shorter. */
    public Optional<Lease> tryAtOnce(Duration limit) {
        Duration atMost = limit.compareTo(client.requestTimeout()) < 0 ? limit : client.requestTimeout();
        Blocking.requireMayBlock(client);
        Lease again = reenter();
        if (again != null) {
            return Optional.of(again);
        }
        Acquisition attempt = begin(Mode.TRY);
        Deadline deadline = Deadline.after(atMost, client.scheduler());
        Optional<Optional<List<HeldNode>>> outcome =
                Blocking.uninterruptibly(() -> Blocking.await(attempt.outcome(), deadline));
        if (outcome.isEmpty() && attempt.giveUp()) {
            throw new LockConnectionException("no answer from ZooKeeper within " + atMost
                    + ", so it is not known whether the lock " + path() + " is free; try again");
        }
        return Blocking.uninterruptibly(() -> Blocking.await(attempt.outcome(), client.scheduler()))
                .map(this::hold);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        Deadline deadline = Deadline.after(timeout, client.scheduler());
        Blocking.requireNotNegative(timeout);
        Blocking.requireMayBlock(client);
        Blocking.throwIfInterrupted();
        if (timeout.isZero()) {
            return tryAcquire();
        }
        Lease again = reenter();
        if (again != null) {
            return Optional.of(again);
        }
        Acquisition attempt = begin(Mode.QUEUE);
        try {
            if (Blocking.await(attempt.outcome(), deadline).isEmpty() && attempt.giveUp()) {
                return Optional.empty();
            }
            return Blocking.await(attempt.outcome(), client.scheduler()).map(this::hold);
        } catch (InterruptedException e) {
            return Optional.of(leaveOrHold(attempt, e));
        }
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        CompletableFuture<Lease> future = new CompletableFuture<>();
        Acquisition attempt = launch(new AcquireLoop(targets, Mode.QUEUE, this::warnOfDeadOwners));
        Completion.on(attempt.outcome(), (outcome, failure) -> {
            List<HeldNode> grants = outcome == null ? null : outcome.orElseThrow();
            client.callbacks().run(() -> deliver(future, grants, failure));
        });
        // However the future ends, if not with the grant, the attempt leaves the queue.
        Completion.on(future, (lease, failure) -> attempt.giveUp());
        return future;
    }

    /** As {@link #acquire()}, but waits on when interrupted and keeps the flag. */
    public Lease acquireUninterruptibly() {
        Blocking.requireMayBlock(client);
        Lease again = reenter();
        if (again != null) {
            return again;
        }
        Acquisition attempt = begin(Mode.QUEUE);
        return hold(Blocking.uninterruptibly(() -> Blocking.await(attempt.outcome(), client.scheduler()))
                .orElseThrow());
    }

    private Acquisition begin(Mode mode) {
        HeldNode exclusive =
                modes == null ? null : modes.toDowngrade(targets.all().get(0), holds.mine());
        return launch(
                exclusive == null
                        ? new AcquireLoop(targets, mode, this::warnOfDeadOwners)
                        : new Downgrade(targets.all().get(0), exclusive, mode));
    }

    private static Acquisition launch(Acquisition attempt) {
        attempt.launch();
        return attempt;
    }

    private @Nullable Lease reenter() {
        client.requireOpenFor(path());
        List<HeldNode> grants = holds.toReenter();
        return grants == null ? null : hold(grants);
    }

    /** Records a hold of the caller on the grants. */
    private Lease hold(List<HeldNode> grants) {
        LockData data = holds.mineToOpen();
        Hold lease = new Hold(this, grants, data);
        data.opened(lease);
        return lease;
    }

    /** After an interruption: nothing is acquired, unless the grant came first; then the flag tells of it. */
    private Lease leaveOrHold(Acquisition attempt, InterruptedException interruption) throws InterruptedException {
        if (attempt.giveUp()) {
            throw interruption;
        }
        List<HeldNode> granted = attempt.outcome()
                .handle((outcome, failure) -> failure == null ? outcome.orElse(null) : null)
                .join();
        if (granted == null) {
            throw interruption;
        }
        Thread.currentThread().interrupt();
        return hold(granted);
    }

    private void deliver(
            CompletableFuture<Lease> future, @Nullable List<HeldNode> grants, @Nullable Throwable failure) {
        if (grants == null) {
            future.completeExceptionally(Objects.requireNonNull(failure));
            return;
        }
        Hold lease = new Hold(this, grants, null);
        ownerless.add(lease);
        if (!future.complete(lease)) {
            lease.beginClosing();
        }
    }

    // ---- Giving back.

    @Override
    public void release() {
        LockData mine = holds.mine();
        Hold lease;
        do {
            lease = mine == null ? null : mine.toRelease(this);
            if (lease == null) {
                throw new IllegalMonitorStateException("thread "
                        + Printable.of(Thread.currentThread().getName()) + " does not hold the lock " + path());
            }
        } while (!lease.beginClosing()); // somebody else closed that one just now: the next
        awaitRelease(lease.givenBack());
        if (lease.state() == LeaseState.LOST) {
            lease.requireNotLost();
        }
        Blocking.throwFailure(lease.givenBack());
    }

    /** Takes a hold that was closed from the record; releases the grants of which it was the last one. */
    public CompletableFuture<Void> giveBack(Hold lease) {
        LockData data = lease.data();
        ownerless.remove(lease);
        List<HeldNode> left = lease.grants();
        if (data != null) {
            data.closed(lease);
            if (data.isEmpty()) {
                holds.forget(data);
            }
            left = left.stream().filter(grant -> !data.needs(grant)).toList();
        }
        return HeldNode.release(left);
    }

    /** A hold's grant has ended: the record of a dead owner is of no more use. On the engine thread. */
    public void onHoldEnded(Hold lease) {
        LockData data = lease.data();
        if (data != null && data.isForgettable()) {
            holds.forget(data);
        }
    }

    /** Waits for ZooKeeper's word that the node is gone, as long as there is somebody to give it. */
    public void awaitRelease(CompletableFuture<Void> givenBack) {
        if (Blocking.mayBlock(client)) {
            client.awaitWhileConnected(givenBack);
        }
    }

    // ---- Asking.

    @Override
    public boolean isHeldByCurrentThread() {
        LockData mine = holds.mine();
        return mine != null && mine.holds(targets);
    }

    @Override
    public int holdCount() {
        LockData mine = holds.mine();
        return mine == null ? 0 : mine.count(this);
    }

    @Override
    public boolean isAcquiredInThisProcess() {
        return Stream.of(holds.all(), client.threadHolds().all())
                        .flatMap(Collection::stream)
                        .anyMatch(data -> data.holds(targets))
                || ownerless.stream().anyMatch(Hold::isStanding);
    }

    @Override
    public List<Participant> participants() throws InterruptedException {
        return participants(Deadline.after(client.requestTimeout(), client.scheduler()));
    }

    public List<Participant> participants(Deadline deadline) throws InterruptedException {
        List<Participant> all = new ArrayList<>();
        for (LockSpec target : targets.all()) {
            all.addAll(new PathQueries(target).participants(deadline));
        }
        return List.copyOf(all);
    }

    @Override
    public Lock asLock() {
        return new JucLock(this, this::acquireUninterruptibly);
    }

    private void warnOfDeadOwners() {
        holds.all().stream().filter(LockData::isForgettable).toList().forEach(holds::forget);
        holds.all().stream()
                .filter(data -> data.isNewlyOrphaned(this))
                .forEach(data -> log.warn(
                        "Thread {} ended while it held the lock {}. It stays locked until a lease of it is closed, which any"
                                + " thread may do now, or the client is. Close leases with try-with-resources.",
                        Printable.of(data.ownerName()),
                        path()));
    }
}
