// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockUpgradeException;
import dev.zkrecipes.core.internal.node.Held;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.ThreadName;
import org.jspecify.annotations.Nullable;

/**
 * The owner of the holds of one lock: a thread, or the lock object. It knows where they are recorded, and what a
 * request of the calling thread can build on. Thread-safe.
 */
final class Ownership {

    enum Owner {
        /** The thread that acquires it, re-entrantly. */
        THREAD,
        /** The lock object, once at a time. */
        INSTANCE,
        /** The lock object, any number of times. */
        NOBODY
    }

    private final Owner owner;
    private final LockDataTable table;
    private final LockData ofInstance; // what the lock object holds, unless threads do
    private final LockData asynchronous;
    private final @Nullable LockSpec otherMode;
    private final boolean isExclusive; // of two modes

    Ownership(Owner owner, LockDataTable table) {
        this(owner, table, null, false);
    }

    /** Of one of two modes: a thread that holds the exclusive one may take the shared one too, not the other way round. */
    Ownership(LockDataTable table, LockSpec otherMode, boolean isExclusive) {
        this(Owner.THREAD, table, otherMode, isExclusive);
    }

    private Ownership(Owner owner, LockDataTable table, @Nullable LockSpec otherMode, boolean isExclusive) {
        this.owner = owner;
        this.table = table;
        this.ofInstance = new LockData();
        this.asynchronous = owner == Owner.THREAD ? table.ofNobody() : new LockData();
        this.otherMode = otherMode;
        this.isExclusive = isExclusive;
    }

    // ---- Records.

    /** Of all holds of the client. */
    LockDataTable table() {
        return table;
    }

    /** What the caller holds; null if it holds nothing. */
    @Nullable
    LockData mine() {
        return owner == Owner.THREAD ? table.mine() : ofInstance;
    }

    /** Where a new hold of the caller is recorded. */
    LockData mineToOpen() {
        return owner == Owner.THREAD ? table.mineToOpen() : ofInstance;
    }

    /** Where leases of asynchronous requests are recorded. */
    LockData asynchronous() {
        return asynchronous;
    }

    /** Whether anything in this process holds all of these. */
    boolean isHeld(LockGroup group) {
        return owner == Owner.THREAD ? table.isHeld(group) : ofInstance.holds(group) || asynchronous.holds(group);
    }

    boolean isHeldByCaller(LockGroup group) {
        LockData mine = mine();
        return mine != null && mine.holds(group);
    }

    /** The number of the caller's holds of exactly these locks. */
    int count(LockGroup group) {
        LockData mine = mine();
        return mine == null ? 0 : mine.count(group);
    }

    // ---- What the caller holds already.

    /** One more hold on what the thread holds: nothing but the thread's record changes. Null if it holds nothing. */
    @Nullable
    Lease reenter(Hold.Origin lock) {
        if (owner == Owner.THREAD) {
            LockData mine = table.mine();
            return mine == null ? null : mine.reenter(lock, otherMode);
        } else if (owner == Owner.INSTANCE) {
            ofInstance.requireNoneLost();
        }
        return null;
    }

    /** See {@link EngineLock#requireNotHeldInPart}. */
    void requireNotHeldInPart(LockGroup group) {
        LockData mine = mine();
        if (owner == Owner.THREAD && mine != null) {
            var unused = mine.grantsToReenter(group, otherMode);
        } else if (owner == Owner.INSTANCE) {
            ofInstance.requireNoneLost();
        }
    }

    /** A lock that its object holds does not see what the calling thread holds on the path through other locks. */
    void requireNoWaitForOneself(LockGroup group) {
        LockData mine = owner == Owner.INSTANCE ? table.mine() : null;
        if (mine != null) {
            mine.requireNotHeldOnPaths(group);
        }
    }

    /** The exclusive grant from which the thread can get the shared mode without queueing; null if there is none. */
    @Nullable
    HeldNode toDowngrade(String path) {
        LockData mine = mine();
        Held other = mine == null || otherMode == null ? null : mine.grantOn(otherMode);
        if (other == null) {
            return null;
        }
        other.requireNotLost();
        if (isExclusive) {
            throw new LockUpgradeException("this thread holds the lock " + path
                    + " in its shared mode and asks for the exclusive one: it would wait for itself; give the shared"
                    + " hold back first, or acquire the exclusive mode before it");
        }
        return (HeldNode) other;
    }

    /** Gives back the caller's youngest hold of these locks. */
    void release(LockGroup group) {
        LockData mine = mine();
        Hold hold;
        do {
            hold = mine == null ? null : mine.youngest(group);
            if (hold == null) {
                if (mine != null) {
                    mine.releaseForgotten(group);
                }
                throw notHeld(group.path());
            }
        } while (!hold.beginClosing(true)); // another thread has just closed that one: try the next
        boolean isLost = hold.state() == LeaseState.LOST;
        hold.lock().confirm(hold, !isLost);
        if (isLost) {
            hold.requireNotLost();
        }
    }

    // ---- Messages.

    private IllegalMonitorStateException notHeld(String path) {
        return new IllegalMonitorStateException(
                owner == Owner.THREAD
                        ? "thread " + ThreadName.ofCaller() + " does not hold the lock " + path
                        : "nothing is held through this object of the lock " + path
                                + ": it was given back already, or never acquired; release once for each acquire");
    }

    /** What the caller holds of these locks, in words. */
    String describe(LockGroup group) {
        LockData mine = mine();
        Hold youngest = mine == null ? null : mine.youngest(group);
        if (youngest != null) {
            return youngest.toString();
        }
        return owner == Owner.THREAD ? "not held by thread " + ThreadName.ofCaller() : "not held";
    }
}
