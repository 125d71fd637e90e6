// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.Held;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.hold.Hold;
import dev.zkrecipes.core.internal.hold.LockData;
import dev.zkrecipes.core.internal.hold.LockDataTable;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.EngineThreads;
import dev.zkrecipes.core.internal.thread.LastResort;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/** A lock whose holds are recorded with their owner; acquired by the engine, or by a foreign lock. Thread-safe. */
public abstract sealed class OwnedLock implements InterProcessLock, Hold.Origin permits AdaptedLock, EngineLock {

    public enum Owner {
        /** The thread that acquires the lock, re-entrantly. */
        THREAD,
        /** The lock object, once at a time. */
        INSTANCE,
        /** The lock object, any number of times. */
        NOBODY
    }

    final @Nullable EngineClient worksOn; // null for a foreign lock that works on no client
    private final Callbacks callbacks;
    final LockGroup group;
    private final Owner owner;
    final LockDataTable table;
    private final LockData ofInstance; // what the lock object holds, unless threads do
    final LastResort lastResort;
    final LockData asynchronous; // what its asynchronous requests get
    private final @Nullable LockSpec otherMode;
    private final boolean isExclusive; // of two modes

    /** Of two modes, {@code isExclusive} is the one whose thread may take the other. */
    OwnedLock(
            @Nullable EngineClient worksOn,
            Callbacks callbacks,
            LockGroup group,
            Owner owner,
            LockDataTable table,
            @Nullable LockSpec otherMode,
            boolean isExclusive) {
        this.worksOn = worksOn;
        this.lastResort = worksOn == null ? new LastResort() : worksOn.lastResort();
        this.callbacks = callbacks;
        this.group = group;
        this.owner = owner;
        this.table = table;
        this.ofInstance = table.ofInstance();
        this.asynchronous = owner == Owner.THREAD ? table.ofNobody() : LockData.ofNobody();
        this.otherMode = otherMode;
        this.isExclusive = isExclusive;
    }

    @Override
    public final String path() {
        return group.path();
    }

    @Override
    public final LockGroup group() {
        return group;
    }

    @Override
    public final Callbacks callbacks() {
        return callbacks;
    }

    @Override
    public final String ownerLabel() {
        return worksOn == null ? "this process" : worksOn.ownerLabel();
    }

    @Override
    public final LastResort lastResort() {
        return lastResort;
    }

    /** Does nothing without a client, as there is nothing of ours to end. */
    @Override
    public final void wakeEngine() {
        if (worksOn != null) {
            worksOn.wake();
        }
    }

    /** Throws if the calling thread would wait for itself. */
    final void requireMayBlock() {
        Blocking.requireMayBlock(worksOn == null ? null : worksOn.scheduler());
    }

    final void requireOpen() {
        if (worksOn != null) {
            worksOn.requests().requireOpen(path());
        }
    }

    // ---- What differs.

    /**
     * Acquires what the caller does not hold yet; empty if the lock is busy. Waits for as long as it takes, or {@code
     * most}. Unless it {@code isInterruptible}, interruptions do not end the wait; the flag is kept.
     */
    abstract Optional<Lease> request(Mode mode, @Nullable Duration most, boolean isInterruptible)
            throws InterruptedException;

    // ---- Acquiring.

    @Override
    public final Lock asLock() {
        return new JucLock();
    }

    @Override
    public final Lease acquire() throws InterruptedException {
        requireMayBlock();
        Blocking.throwIfInterrupted();
        Lease again = reenter();
        return again != null ? again : request(Mode.QUEUE, null, true).orElseThrow();
    }

    @Override
    public final Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        Blocking.requireNotNegative(timeout);
        requireMayBlock();
        Blocking.throwIfInterrupted();
        if (timeout.isZero()) {
            return tryAcquire();
        }
        Lease again = reenter();
        return again != null ? Optional.of(again) : request(Mode.QUEUE, timeout, true);
    }

    @Override
    public final Optional<Lease> tryAcquire() {
        return uninterruptibly(Mode.TRY, null);
    }

    /** Acquires it if it is free, and waits for the answer of a server no longer than that. */
    public final Optional<Lease> tryAtOnce(Duration limit) {
        return uninterruptibly(Mode.TRY, limit);
    }

    private Optional<Lease> uninterruptibly(Mode mode, @Nullable Duration most) {
        requireMayBlock();
        Lease again = reenter();
        return again != null ? Optional.of(again) : Blocking.uninterruptibly(() -> request(mode, most, false));
    }

    /** One more hold on what the thread holds: nothing but the thread's record changes. Null if it holds nothing. */
    private @Nullable Lease reenter() {
        requireOpen();
        while (true) {
            Grant grant = toReenter();
            Lease again =
                    grant == null ? null : Objects.requireNonNull(table.mine()).reenter(this, grant);
            if (grant == null || again != null) {
                return again;
            }
        }
    }

    /** Throws if the calling thread would wait for itself, holding it in part or another way, or has lost it. */
    public final void requireNotHeldInPart() {
        var unused = toReenter();
    }

    private @Nullable Grant toReenter() {
        if (owner == Owner.INSTANCE) {
            ofInstance.requireNoneLost();
        }
        LockData mine = owner == Owner.THREAD ? table.mine() : null;
        return mine == null ? null : mine.grantToReenter(group, otherMode);
    }

    /** A lock that its object holds does not see what the calling thread holds on the path through other locks. */
    final void requireNoWaitForOneself() {
        LockData mine = owner == Owner.INSTANCE ? table.mine() : null;
        if (mine != null) {
            mine.requireNotHeldOnPaths(group);
        }
    }

    /** The exclusive grant from which the thread can get the shared mode without queueing; null if there is none. */
    final @Nullable HeldNode toDowngrade() {
        LockData mine = mine();
        Held other = mine == null || otherMode == null ? null : mine.partOn(otherMode);
        if (other == null) {
            return null;
        }
        other.requireNotLost();
        if (isExclusive) {
            throw new LockRefusedException("this thread holds the lock " + path()
                    + " in its shared mode and asks for the exclusive one: it would wait for itself; give the shared"
                    + " hold back first, or acquire the exclusive mode before it");
        }
        return (HeldNode) other;
    }

    // ---- Holds.

    /** What the caller holds; null if it holds nothing. */
    final @Nullable LockData mine() {
        return owner == Owner.THREAD ? table.mine() : ofInstance;
    }

    final LockData mineToOpen() {
        return owner == Owner.THREAD ? table.mineToOpen() : ofInstance;
    }

    @Override
    public final void release() {
        LockData mine = mine();
        Hold hold;
        do {
            hold = mine == null ? null : mine.youngest(group);
            if (hold == null) {
                throw new IllegalMonitorStateException(
                        owner == Owner.THREAD
                                ? "thread " + EngineThreads.nameOf(Thread.currentThread()) + " does not hold the lock "
                                        + path()
                                : "nothing is held through this object of the lock " + path()
                                        + ": it was given back already, or never acquired; release once for each acquire");
            }
        } while (!hold.beginClosing(true)); // another thread has just closed that one: try the next
        boolean isLost = hold.state() == LeaseState.LOST;
        hold.lock().confirm(hold, !isLost);
        if (isLost) {
            hold.requireNotLost();
        }
    }

    @Override
    public final boolean isHeldByCurrentThread() {
        LockData mine = mine();
        return mine != null && mine.holds(group);
    }

    @Override
    public final int holdCount() {
        LockData mine = mine();
        return mine == null ? 0 : mine.count(group);
    }

    @Override
    public final boolean isAcquiredInThisProcess() {
        return owner == Owner.THREAD ? table.isHeld(group) : ofInstance.holds(group) || asynchronous.holds(group);
    }

    @Override
    public String toString() {
        LockData mine = mine();
        Hold youngest = mine == null ? null : mine.youngest(group);
        String nothing = owner == Owner.THREAD
                ? "not held by thread " + EngineThreads.nameOf(Thread.currentThread())
                : "not held";
        return path() + ", " + (youngest == null ? nothing : youngest);
    }

    /** Leases are not handed out; {@code unlock} gives back the thread's youngest hold. */
    private final class JucLock implements Lock {
        @Override
        public void lock() {
            var unused = uninterruptibly(Mode.QUEUE, null);
        }

        @Override
        public void lockInterruptibly() throws InterruptedException {
            acquire();
        }

        @Override
        public boolean tryLock() {
            return tryAcquire().isPresent();
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
            Duration timeout =
                    Duration.ofNanos(Objects.requireNonNull(unit, "unit").toNanos(Math.max(0, time)));
            return tryAcquire(timeout).isPresent();
        }

        @Override
        public void unlock() {
            release();
        }

        @Override
        public Condition newCondition() {
            throw new UnsupportedOperationException("a lock that processes share has no conditions");
        }

        @Override
        public String toString() {
            return "Lock[" + path() + "]";
        }
    }
}
