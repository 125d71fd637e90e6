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
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.thread.EngineThreads;
import dev.zkrecipes.core.internal.thread.LastResort;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A lock whose holds are recorded with their owner: a thread, or the lock object. This class determines what a request
 * of the calling thread can build on, such as a hold to re-enter, and which requests would wait for the thread itself.
 * Subclasses differ in how the lock is acquired: by the engine, or by a foreign lock. Thread-safe.
 */
public abstract sealed class OwnedLock implements InterProcessLock, Hold.Origin permits AdaptedLock, EngineLock {

    /**
     * The owner of a lock's holds. A living thread closes its holds itself, unless it lets any thread close them. Any
     * thread may close the holds that a lock object owns.
     */
    public enum Owner {
        /** The thread that acquires the lock, and that may acquire it again. */
        THREAD,
        /** The lock object, which can be held only once at a time. */
        INSTANCE,
        /** The lock object, which can be held as many times at once as the driver allows. */
        NOBODY
    }

    final @Nullable EngineClient worksOn; // null for a foreign lock without a client
    private final Callbacks callbacks;
    final LockGroup group;
    private final Owner owner;
    final LockDataTable table; // the holds of all threads
    private final LockData ofInstance; // holds of the lock object; unused if threads own them
    final LastResort lastResort;
    final LockData asynchronous; // holds of asynchronous requests, which belong to no thread
    private final @Nullable LockSpec otherMode; // null unless the lock has two modes
    private final boolean isExclusive; // whether a holder of this mode may acquire the other one, too

    /**
     * {@code worksOn} is null for a foreign lock without a client. {@code otherMode} and {@code isExclusive} are for a
     * lock of two modes, of which one thread may hold both.
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
        // Locks that are owned by threads share their holds, so every lock object of the client must also see the
        // asynchronous ones.
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
     * Throws on a thread that feeds the engine: a blocking call there would wait for something that only that thread
     * delivers.
     */
    final void requireMayBlock() {
        Blocking.requireMayBlock(worksOn == null ? null : worksOn.scheduler());
    }

    /**
     * Throws if the client is closed. Even a re-entry is refused then, because everything that the client held is lost.
     */
    final void requireOpen() {
        if (worksOn != null) {
            worksOn.requests().requireOpen(path());
        }
    }

    // ---- What differs.

    /**
     * Acquires a lock that the caller cannot re-enter. Returns empty if the lock is busy. {@code most} limits the wait;
     * if it is null, a request in the queue waits indefinitely. If the wait is not interruptible, an interruption does
     * not end it, and the thread keeps its flag.
     */
    abstract Optional<Lease> request(Mode mode, @Nullable Duration most, boolean isInterruptible)
            throws InterruptedException;

    /**
     * Confirms as {@link #confirm(Hold, boolean)} does the close of a hold that was closed without waiting, but waits
     * until {@code by} at most; null for the request time-out from now on. Only for a lock that works on a client.
     */
    abstract void confirm(Hold closed, boolean tells, @Nullable Deadline by);

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
     * Opens one more hold on a grant that the thread holds. Only the thread's record changes: nothing is sent, and no
     * task of the engine runs. Returns null if the thread holds nothing that it could re-enter.
     */
    private @Nullable Lease reenter() {
        requireOpen();
        // Another thread may close the hold whose grant the new one would share. Then the grant is looked up again.
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
     * Refuses a lock that the calling thread holds only in part, or under another rule, because the thread would wait
     * for itself. Also throws if the thread has lost what it holds. A thread that holds the whole lock may acquire it
     * again.
     */
    public final void requireNotHeldInPart() {
        var unused = toReenter();
    }

    /**
     * Returns the grant on which the calling thread can open one more hold; null if there is none. Throws if the owner
     * has not closed a lost hold, because it must not continue as if nothing had happened.
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
     * Refuses to queue while the calling thread holds the path through another lock object. A lock whose holds belong
     * to the lock object cannot re-enter a hold of a thread, so the thread would wait for itself.
     */
    final void requireNoWaitForOneself() {
        LockData mine = owner == Owner.INSTANCE ? table.mine() : null;
        if (mine != null) {
            mine.requireNotHeldOnPaths(group);
        }
    }

    /**
     * Returns the nodes that the calling thread holds, for its request to name in each of its own nodes. A request for
     * more locks than the number of nodes it may name names none, because its data would grow too fast.
     */
    final List<String> heldNodes() {
        LockData mine = table.mine();
        int most = OwnerLabel.MOST_HOLDS;
        return mine == null || group.all().size() > most ? List.of() : mine.ownNodes(most);
    }

    /**
     * Returns the node of the exclusive mode from which the thread can get the shared mode without queueing; null if
     * there is none. Refuses the opposite, a request for the exclusive mode by a thread that holds the shared one.
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

    /**
     * Returns the record of the caller's holds; null if the lock is owned by threads and the calling thread has no
     * record.
     */
    final @Nullable LockData mine() {
        return owner == Owner.THREAD ? table.mine() : ofInstance;
    }

    /** Returns the record for a new hold of the caller, and creates one for a thread that has none. */
    final LockData mineToOpen() {
        return owner == Owner.THREAD ? table.mineToOpen() : ofInstance;
    }

    /**
     * Releases the youngest hold of the caller, whichever lock object it was acquired through. A lost hold is closed as
     * well, and then an exception reports the loss.
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
        } while (!hold.beginClosing(true)); // another thread has just closed this hold: try the next
        boolean isLost = hold.state() == LeaseState.LOST;
        hold.lock().confirm(hold, !isLost);
        if (isLost) {
            hold.requireNotLost();
        }
    }

    /**
     * Waits until everything that was released with the closed hold is gone, but only while its session is connected,
     * and until {@code by} at most; null for the request time-out from now on, which is computed only if there is
     * something to wait for: usually a re-entrant hold is closed.
     */
    static void awaitGone(EngineClient client, Hold closed, @Nullable Deadline by) {
        CompletableFuture<Void> givenBack = closed.givenBack();
        if (!givenBack.isDone() && Blocking.mayBlock(client.scheduler())) {
            client.connection()
                    .awaitWhileConnected(
                            closed.grant().session(), givenBack, by == null ? client.requestDeadline() : by);
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
     * The view of this lock as a {@code java.util.concurrent} lock. The caller does not see the leases: {@code unlock}
     * releases the youngest hold of the thread.
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
