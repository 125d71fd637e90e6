// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import com.google.common.base.Preconditions;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockObserver.Ending;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockUpgradeException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.internal.acquire.Acquisition;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.HeldNodes;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.thread.StackReserve;
import dev.zkrecipes.core.internal.thread.ThreadName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * The blocking and the asynchronous API on top of acquisitions. What the calling thread holds is found by path and rule in the
 * client's {@link LockDataTable}, whichever object it was acquired through. Thread-safe.
 *
 * <p>A thread of the application may die in here of anything: at the end of its stack or of the heap. Whatever is thrown,
 * its request leaves the queue, or what was granted is given back.
 */
public final class EngineLock implements InterProcessLock, Hold.Origin {

    /** Whom the holds of blocking acquires belong to. */
    private enum Owner {
        THREAD,
        /** The instance, once at a time. */
        INSTANCE,
        /** The instance, any number of times. */
        NOBODY
    }

    private final LockGroup targets;
    private final HoldingHost client;
    private final Owner owner;
    private final LockData ofInstance; // what the instance holds, unless threads do
    private final LockData asynchronous;
    private final @Nullable LockSpec otherMode;
    private final boolean isExclusive; // of two modes

    private EngineLock(HoldingHost client, LockGroup targets, Owner owner) {
        this(client, targets, owner, null, false);
    }

    private EngineLock(
            HoldingHost client, LockGroup targets, Owner owner, @Nullable LockSpec otherMode, boolean isExclusive) {
        this.targets = targets;
        this.client = client;
        this.owner = owner;
        this.ofInstance = new LockData(null);
        this.otherMode = otherMode;
        this.isExclusive = isExclusive;
        this.asynchronous = owner == Owner.THREAD ? client.holds().ofNobody() : new LockData(null);
    }

    /** A lock that is held by threads, re-entrantly. */
    public static EngineLock threadOwned(HoldingHost client, LockSpec target) {
        return new EngineLock(client, LockGroup.of(target), Owner.THREAD);
    }

    /** The mode of a lock that excludes everybody; its thread may take the shared one too. */
    public static EngineLock exclusiveMode(HoldingHost client, LockSpec target, LockSpec shared) {
        requireNoHandoffs(target.options(), "a lock of two modes");
        return new EngineLock(client, LockGroup.of(target), Owner.THREAD, shared, true);
    }

    /** The mode of a lock that many may hold; its thread may not ask for the exclusive one. */
    public static EngineLock sharedMode(HoldingHost client, LockSpec target, LockSpec exclusive) {
        requireNoHandoffs(target.options(), "a lock of two modes");
        return new EngineLock(client, LockGroup.of(target), Owner.THREAD, exclusive, false);
    }

    /**
     * Several locks as one, held by threads, re-entrantly.
     *
     * @throws IllegalArgumentException if they cannot be
     */
    public static EngineLock together(List<EngineLock> members, LockOptions options) {
        requireNoHandoffs(options, "a lock of several");
        members.forEach(member -> requireNoHandoffs(member.targets.options(), "a member of a lock of several"));
        List<LockSpec> all = members.stream()
                .flatMap(member -> member.targets.all().stream())
                .toList();
        LockGroup group = LockGroup.together(all, options);
        HoldingHost client = members.get(0).client;
        for (EngineLock member : members) {
            Preconditions.checkArgument(
                    member.client == client,
                    "the lock %s is not of the same client as %s",
                    member.path(),
                    members.get(0).path());
        }
        return new EngineLock(client, group, Owner.THREAD);
    }

    private static void requireNoHandoffs(LockOptions options, String what) {
        Preconditions.checkArgument(
                options.localHandoffs() == 0,
                "%s cannot pass on inside the process: leave out LockOptions.localHandoffs",
                what);
    }

    /** A lock that is held by the instance, once at a time. */
    public static EngineLock instanceOwned(HoldingHost client, LockSpec target) {
        return new EngineLock(client, LockGroup.of(target), Owner.INSTANCE);
    }

    /** A lock that is held by the instance, any number of times, as the driver allows. */
    public static EngineLock unowned(HoldingHost client, LockSpec target) {
        return new EngineLock(client, LockGroup.of(target), Owner.NOBODY);
    }

    @Override
    public String path() {
        return targets.path();
    }

    @Override
    public LockGroup targets() {
        return targets;
    }

    @Override
    public HoldingHost client() {
        return client;
    }

    public boolean isSingle() {
        return targets.isSingle();
    }

    // ---- Acquiring.

    @Override
    public Lease acquire() throws InterruptedException {
        Blocking.requireMayBlock(client.scheduler());
        Blocking.throwIfInterrupted();
        Lease again = reenter();
        if (again != null) {
            return again;
        }
        return request(Mode.QUEUE, (attempt, observed) -> {
            try {
                return hold(awaitGrant(attempt), observed);
            } catch (InterruptedException e) {
                return leaveOrHold(attempt, observed, e);
            }
        });
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return tryAtOnce(client.requestTimeout());
    }

    /** The same with another limit than the request time-out, if that is shorter. */
    public Optional<Lease> tryAtOnce(Duration limit) {
        Duration atMost = limit.compareTo(client.requestTimeout()) < 0 ? limit : client.requestTimeout();
        Blocking.requireMayBlock(client.scheduler());
        Lease again = reenter();
        if (again != null) {
            return Optional.of(again);
        }
        Deadline deadline = Deadline.after(atMost, client.scheduler());
        return requestUninterruptibly(Mode.TRY, (attempt, observed) -> {
            Optional<Optional<List<HeldNode>>> outcome =
                    Blocking.uninterruptibly(() -> Blocking.await(attempt.outcome(), deadline));
            if (outcome.isEmpty() && attempt.giveUp()) {
                throw new LockConnectionException("no answer from ZooKeeper within " + atMost
                        + ", so it is not known whether the lock " + path() + " is free; try again");
            }
            return Blocking.uninterruptibly(() -> Blocking.await(attempt.outcome(), client.scheduler()))
                    .map(grants -> hold(grants, observed));
        });
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        Blocking.requireNotNegative(timeout);
        Deadline deadline = Deadline.after(timeout, client.scheduler());
        Blocking.requireMayBlock(client.scheduler());
        Blocking.throwIfInterrupted();
        if (timeout.isZero()) {
            return tryAcquire();
        }
        Lease again = reenter();
        if (again != null) {
            return Optional.of(again);
        }
        return request(Mode.QUEUE, (attempt, observed) -> {
            try {
                if (Blocking.await(attempt.outcome(), deadline).isEmpty()) {
                    Optional<? extends LockException> unseen = unseen(attempt, timeout);
                    if (attempt.giveUp()) {
                        if (unseen.isPresent()) {
                            throw unseen.get();
                        }
                        return Optional.empty();
                    }
                }
                return Optional.of(hold(awaitGrant(attempt), observed));
            } catch (InterruptedException e) {
                return Optional.of(leaveOrHold(attempt, observed, e));
            }
        });
    }

    /** Why it is not known that the lock is busy, at the end of a wait; empty if it is. */
    private Optional<? extends LockException> unseen(Acquisition attempt, Duration timeout) {
        boolean seen = attempt.wasSeenBusy();
        if (attempt.obstacle().isPresent()) {
            return attempt.obstacle();
        }
        String unknown = " the lock " + path() + " is free; ";
        if (client.connectionState() != ConnectionState.CONNECTED) {
            String before = seen ? " any more (the lock was busy when it was last seen)" : "";
            return Optional.of(client.notConnected(before + " after " + timeout + ", so it is not known whether"
                    + unknown + "try again when connected"));
        }
        return seen
                ? Optional.empty()
                : Optional.of(new LockConnectionException("no answer from ZooKeeper within " + timeout
                        + ", so it is not known whether" + unknown + "wait longer, or try again"));
    }

    /** As {@link #acquire()}, but waits on when interrupted and keeps the flag. */
    public Lease acquireUninterruptibly() {
        Blocking.requireMayBlock(client.scheduler());
        Lease again = reenter();
        if (again != null) {
            return again;
        }
        return requestUninterruptibly(
                Mode.QUEUE, (attempt, observed) -> hold(Blocking.uninterruptibly(() -> awaitGrant(attempt)), observed));
    }

    /** What a caller does with its request that was launched. */
    @FunctionalInterface
    private interface Waiting<T> {
        T await(Acquisition attempt, @Nullable ObservedRequest observed) throws InterruptedException;
    }

    /** Launches a request for the calling thread; whatever is thrown, nothing is left of it. */
    private <T> T request(Mode mode, Waiting<T> waiting) throws InterruptedException {
        StackReserve.requireForACall();
        HeldNode exclusive = toDowngrade();
        Acquisition attempt = exclusive == null
                ? client.acquisitions().of(targets, mode, false)
                : client.acquisitions().downgrade(targets.all().get(0), exclusive, mode);
        ObservedRequest observed = ObservedRequest.begin(client, targets);
        try {
            launch(attempt);
            T outcome = waiting.await(attempt, observed);
            if (observed != null) {
                observed.over(mode == Mode.TRY ? Ending.BUSY : Ending.TIMED_OUT); // unless it was granted
            }
            return outcome;
        } catch (Throwable t) {
            abandon(attempt, t);
            if (observed != null) {
                observed.failed(t);
            }
            throw t;
        }
    }

    /** The same for one who waits on when interrupted. */
    private <T> T requestUninterruptibly(Mode mode, Waiting<T> waiting) {
        try {
            return request(mode, waiting);
        } catch (InterruptedException e) {
            throw new AssertionError("an interruption ended a wait that it must not end", e);
        }
    }

    /** Waits for the grant of a request that is queued. */
    private List<HeldNode> awaitGrant(Acquisition attempt) throws InterruptedException {
        return Blocking.await(attempt.outcome(), client.scheduler()).orElseThrow();
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        StackReserve.requireForACall();
        CompletableFuture<Lease> future = new CompletableFuture<>();
        Acquisition attempt = client.acquisitions().of(targets, Mode.QUEUE, true);
        ObservedRequest observed = ObservedRequest.begin(client, targets);
        Completion.on(attempt.outcome(), (outcome, failure) -> {
            List<HeldNode> grants = outcome == null ? null : outcome.orElseThrow();
            orGiveBack(future, grants, () -> client.callbacks().run(() -> deliver(future, grants, observed, failure)));
        });
        // However the future ends, if not with the grant, the attempt leaves the queue.
        Completion.on(future, (lease, failure) -> attempt.giveUp());
        try {
            launch(attempt);
        } catch (Throwable t) {
            abandon(attempt, t);
            throw t;
        }
        return future;
    }

    private void launch(Acquisition attempt) {
        attempt.launch();
        client.deadOwners().begin();
    }

    // ---- What the caller holds already.

    @Nullable
    private LockData mine() {
        return owner == Owner.THREAD ? client.holds().mine() : ofInstance;
    }

    /**
     * Refuses what the calling thread holds a part of, or holds another way; what it holds as it is, it may acquire again.
     *
     * @throws dev.zkrecipes.core.LockLostException if what it holds is lost
     * @throws dev.zkrecipes.core.LockRefusedException if it would wait for itself
     */
    public void requireNotHeldInPart() {
        LockData mine = mine();
        if (owner == Owner.THREAD && mine != null) {
            var unused = mine.grantsToReenter(targets, otherMode);
        } else if (owner == Owner.INSTANCE) {
            ofInstance.requireNoneLost();
        }
    }

    /** One more hold on what the thread holds: nothing but the thread's record changes. */
    private @Nullable Lease reenter() {
        client.requireOpenFor(path());
        if (owner == Owner.THREAD) {
            LockData mine = client.holds().mine();
            return mine == null ? null : mine.reenter(this, otherMode);
        } else if (owner == Owner.INSTANCE) {
            ofInstance.requireNoneLost();
        }
        return null;
    }

    /** The exclusive grant that a request of its thread for the shared mode can go on from; null if there is none. */
    private @Nullable HeldNode toDowngrade() {
        LockData mine = mine();
        HeldNode other = mine == null || otherMode == null ? null : mine.grantOn(otherMode);
        if (other == null) {
            return null;
        }
        other.requireNotLost();
        if (isExclusive) {
            throw new LockUpgradeException("this thread holds the lock " + path()
                    + " in its shared mode and asks for the exclusive one: it would wait for itself; give the shared"
                    + " hold back first, or acquire the exclusive mode before it");
        }
        return other;
    }

    // ---- What becomes of a grant.

    /** Records a hold of the caller on the grants. */
    private Lease hold(List<HeldNode> grants, @Nullable ObservedRequest observed) {
        LockData data = owner == Owner.THREAD ? client.holds().mineToOpen() : ofInstance;
        return opened(new Hold(this, grants, data), observed);
    }

    private static Hold opened(Hold lease, @Nullable ObservedRequest observed) {
        try {
            lease.open();
            if (observed != null) {
                observed.granted(lease.grants());
            }
            return lease;
        } catch (Throwable t) {
            lease.beginClosing();
            throw t;
        }
    }

    /** After an interruption: nothing is acquired, unless the grant came first; then the flag tells of it. */
    private Lease leaveOrHold(
            Acquisition attempt, @Nullable ObservedRequest observed, InterruptedException interruption)
            throws InterruptedException {
        List<HeldNode> granted = attempt.giveUp() ? null : granted(attempt);
        if (granted == null) {
            throw interruption;
        }
        Thread.currentThread().interrupt();
        return hold(granted, observed);
    }

    /** What an attempt that is over was granted; null if nothing. */
    private static @Nullable List<HeldNode> granted(Acquisition attempt) {
        return attempt.outcome()
                .handle((outcome, failure) -> failure == null ? outcome.orElse(null) : null)
                .join();
    }

    /** The caller fails with {@code why}; nothing may be left to it that nobody would ever give back. */
    private void abandon(Acquisition attempt, Throwable why) {
        try {
            List<HeldNode> granted = attempt.giveUp() ? null : granted(attempt);
            if (granted != null) {
                LockData mine = mine();
                Hold hold = mine == null ? null : mine.holdOn(granted.get(0));
                if (hold == null) {
                    HeldNodes.release(granted);
                } else {
                    hold.beginClosing();
                }
                forgetIfEmpty(mine);
            }
        } catch (Throwable again) {
            why.addSuppressed(again);
        }
    }

    private void deliver(
            CompletableFuture<Lease> future,
            @Nullable List<HeldNode> grants,
            @Nullable ObservedRequest observed,
            @Nullable Throwable failure) {
        if (grants == null) {
            if (observed != null) {
                observed.failed(Objects.requireNonNull(failure));
            }
            future.completeExceptionally(Objects.requireNonNull(failure));
            return;
        }
        orGiveBack(future, grants, () -> {
            Hold lease = opened(new Hold(this, grants, asynchronous), observed);
            if (!future.complete(lease)) {
                lease.beginClosing();
            }
        });
    }

    /** Hands grants on; if that fails, gives them back. */
    private static void orGiveBack(
            CompletableFuture<Lease> future, @Nullable List<HeldNode> grants, Runnable delivery) {
        try {
            delivery.run();
        } catch (Throwable t) {
            HeldNodes.release(grants == null ? List.of() : grants);
            future.completeExceptionally(t);
        }
    }

    // ---- Giving back.

    @Override
    public void release() {
        LockData mine = mine();
        Hold lease;
        do {
            lease = mine == null ? null : mine.youngest(targets);
            if (lease == null) {
                throw new IllegalMonitorStateException(
                        owner == Owner.THREAD
                                ? "thread " + ThreadName.ofCaller() + " does not hold the lock " + path()
                                : "nothing is held through this object of the lock " + path()
                                        + ": it was given back already, or never acquired; release once for each"
                                        + " acquire");
            }
        } while (!lease.beginClosing()); // another thread has just closed that one: try the next
        lease.awaitRelease();
        if (lease.state() == LeaseState.LOST) {
            lease.requireNotLost();
        }
        lease.throwRefusal();
    }

    @Override
    public CompletableFuture<Void> giveBack(Hold lease) {
        forgetIfEmpty(lease.data());
        return HeldNodes.release(lease.data().notNeededWithout(lease));
    }

    private void forgetIfEmpty(@Nullable LockData data) {
        if (data != null && data.isEmpty()) {
            client.holds().forget(data);
        }
    }

    @Override
    public void onHoldEnded(Hold lease) {
        if (lease.data().isForgettable()) {
            client.holds().forget(lease.data());
        }
    }

    @Override
    public boolean confirmsRelease() {
        return !targets.options().releasesInBackground();
    }

    @Override
    public void awaitRelease(CompletableFuture<Void> givenBack) {
        if (!givenBack.isDone() && Blocking.mayBlock(client.scheduler())) {
            client.awaitWhileConnected(givenBack);
        }
    }

    // ---- Asking.

    @Override
    public boolean isHeldByCurrentThread() {
        LockData mine = mine();
        return mine != null && mine.holds(targets);
    }

    @Override
    public int holdCount() {
        LockData mine = mine();
        return mine == null ? 0 : mine.count(targets);
    }

    @Override
    public boolean isAcquiredInThisProcess() {
        return owner == Owner.THREAD
                ? client.holds().isHeld(targets)
                : ofInstance.holds(targets) || asynchronous.holds(targets);
    }

    @Override
    public List<Participant> participants() throws InterruptedException {
        return participants(Deadline.after(client.requestTimeout(), client.scheduler()));
    }

    public List<Participant> participants(Deadline deadline) throws InterruptedException {
        List<Participant> all = new ArrayList<>();
        for (LockSpec target : targets.all()) {
            all.addAll(new PathQueries(client, target).participants(deadline));
        }
        return List.copyOf(all);
    }

    /** Those who hold it, with what their nodes hold. */
    public List<SeenParticipant> holders(Deadline deadline) throws InterruptedException {
        List<SeenParticipant> all = new ArrayList<>();
        for (LockSpec target : targets.all()) {
            all.addAll(new PathQueries(client, target).holders(deadline));
        }
        return List.copyOf(all);
    }

    /** What is held by the calling thread, or through the instance, and how the client stands. */
    @Override
    public String toString() {
        LockData mine = mine();
        Hold youngest = mine == null ? null : mine.youngest(targets);
        String held = youngest != null
                ? youngest.toString()
                : owner == Owner.THREAD ? "not held by thread " + ThreadName.ofCaller() : "not held";
        return path() + ", " + held + ", " + client;
    }

    @Override
    public Lock asLock() {
        return new JucLock(this, this::acquireUninterruptibly);
    }
}
