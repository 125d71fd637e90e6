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
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A lock whose holds are recorded with their owner: a thread, or the lock object. This class finds out what a request
 * of the calling thread can build on, such as a hold to re-enter, and which requests would wait for the thread
 * itself. Subclasses differ in how the lock is acquired: by the engine, or by a foreign lock. Thread-safe.
 */
public abstract sealed class OwnedLock implements InterProcessLock, Hold.Origin permits AdaptedLock, EngineLock {

    /**
     * Who owns the holds of a lock. A thread closes its holds itself while it lives, unless it lets any thread do so.
     * What a lock object owns, any thread may close.
     */
    public enum Owner {
        /** The thread that acquires the lock, and that may acquire it again. */
        THREAD,
        /** The lock object, which is held once at a time. */
        INSTANCE,
        /** The lock object, which is held any number of times at once, as the driver allows. */
        NOBODY
    }

    final @Nullable EngineClient worksOn; // null for a foreign lock that works on no client
    private final Callbacks callbacks;
    final LockGroup group;
    private final Owner owner;
    final LockDataTable table; // the holds of all threads
    private final LockData ofInstance; // holds of the lock object; unused if threads own them
    final LastResort lastResort;
    final LockData asynchronous; // holds of asynchronous requests, which belong to no thread
    private final @Nullable LockSpec otherMode; // null unless the lock has two modes
    private final boolean isExclusive; // whether this is the mode whose thread may take the other one, too

    /**
     * {@code worksOn} is null for a foreign lock that works on no client. {@code otherMode} and {@code isExclusive}
     * are for a lock of two modes, of which one thread may hold both.
     */
    OwnedLock(
            @Nullable EngineClient worksOn,
            Callbacks callbacks,
            LockGroup group,
            Owner owner,
            LockDataTable table,
            @Nullable LockSpec otherMode,
            boolean isExclusive) {
        this.worksOn = worksOn;
        this.lastResort = worksOn == null ? new LastResort(null) : worksOn.lastResort();
        this.callbacks = callbacks;
        this.group = group;
        this.owner = owner;
        this.table = table;
        this.ofInstance = table.ofInstance();
        // Locks that threads own share their holds, so every lock object of the client must see these, too.
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

    /**
     * Throws on a thread that feeds the engine: a blocking call there would wait for what only that thread can bring.
     */
    final void requireMayBlock() {
        Blocking.requireMayBlock(worksOn == null ? null : worksOn.scheduler());
    }

    /** Throws if the client is closed. Even a re-entry is refused then: all that the client held is lost. */
    final void requireOpen() {
        if (worksOn != null) {
            worksOn.requests().requireOpen(path());
        }
    }

    // ---- What differs.

    /**
     * Acquires what the caller does not hold yet. Empty if the lock is busy. {@code most} limits the wait; if it is
     * null, a request in the queue waits for as long as it takes. If the wait is not interruptible, an interruption
     * does not end it, and the thread keeps its flag.
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

    /**
     * Acquires the lock if it is free. Waits for the server's answer no longer than {@code limit}, and no longer than
     * the request time-out.
     */
    public final Optional<Lease> tryAtOnce(Duration limit) {
        return uninterruptibly(Mode.TRY, limit);
    }

    /**
     * Acquires without letting an interruption end the wait, for methods that do not throw
     * {@link InterruptedException}.
     */
    private Optional<Lease> uninterruptibly(Mode mode, @Nullable Duration most) {
        requireMayBlock();
        Lease again = reenter();
        return again != null ? Optional.of(again) : Blocking.uninterruptibly(() -> request(mode, most, false));
    }

    /**
     * Opens one more hold on what the thread holds. Nothing but the thread's record changes: nothing is sent, and no
     * task of the engine runs. Null if the thread holds nothing that it could re-enter.
     */
    private @Nullable Lease reenter() {
        requireOpen();
        // Another thread may close the hold beside which the new one would stand. Then it is looked for again.
        while (true) {
            Grant grant = toReenter();
            Lease again =
                    grant == null ? null : Objects.requireNonNull(table.mine()).reenter(this, grant);
            if (grant == null || again != null) {
                return again;
            }
        }
    }

    /**
     * Refuses a lock of which the calling thread holds a part, or which it holds in another way: the thread would
     * wait for itself. Throws, too, if the thread has lost what it holds. What it holds as a whole, it may acquire
     * again.
     */
    public final void requireNotHeldInPart() {
        var unused = toReenter();
    }

    /**
     * The grant on which the calling thread can open one more hold; null if there is none. Throws if a hold is lost
     * that its owner has not closed: the owner must not go on as if nothing had happened.
     */
    private @Nullable Grant toReenter() {
        if (owner == Owner.INSTANCE) {
            ofInstance.requireNoneLost();
        } else if (owner == Owner.NOBODY) {
            ofInstance.closeLongLost();
        }
        LockData mine = owner == Owner.THREAD ? table.mine() : null;
        return mine == null ? null : mine.grantToReenter(group, otherMode);
    }

    /**
     * Refuses to queue while the calling thread holds the path through another lock object. A lock that its object
     * holds does not re-enter by what a thread holds, so the thread would wait for itself.
     */
    final void requireNoWaitForOneself() {
        LockData mine = owner == Owner.INSTANCE ? table.mine() : null;
        if (mine != null) {
            mine.requireNotHeldOnPaths(group);
        }
    }

    /**
     * The nodes that the calling thread holds, which its request names in each node of its own. A request for more
     * locks than it may name nodes names none: its data would grow too fast.
     */
    final List<String> heldNodes() {
        LockData mine = table.mine();
        int most = OwnerLabel.MOST_HOLDS;
        return mine == null || group.all().size() > most ? List.of() : mine.ownNodes(most);
    }

    /**
     * The exclusive grant from which the thread can get the shared mode without queueing; null if there is none.
     * Refuses the opposite, a request for the exclusive mode by a thread that holds the shared one.
     */
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

    /** The record of what the caller holds; null if the calling thread owns holds and has none. */
    final @Nullable LockData mine() {
        return owner == Owner.THREAD ? table.mine() : ofInstance;
    }

    /** The record for a new hold of the caller; a thread without a record gets one. */
    final LockData mineToOpen() {
        return owner == Owner.THREAD ? table.mineToOpen() : ofInstance;
    }

    /**
     * Gives back the youngest hold of the caller, whichever lock object it was acquired through. A lost hold is
     * closed as well; after that, the exception tells of the loss.
     */
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

    /**
     * The view of this lock as a {@code java.util.concurrent} lock. Nobody sees its leases: {@code unlock} gives back
     * the youngest hold of the thread.
     */
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
            // By the contract of Lock, a time that is not positive means not to wait at all.
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
