// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.internal.queue.LockGroup;
import java.lang.ref.ReferenceQueue;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * All holds of one client: a record for each thread that holds anything, through whatever lock objects, and one for the
 * leases that belong to no thread. Thread-safe.
 */
public final class LockDataTable {
    // A thread adds and removes only its own record; the close of a dead thread's last hold removes that one.
    private final Map<Thread, LockData> ofThreads = new ConcurrentHashMap<>();
    private final LockData ofNobody = new LockData(null);
    private final ReferenceQueue<Lease> dropped = new ReferenceQueue<>();

    /** The calling thread's record; null if it holds nothing. */
    @Nullable
    public LockData mine() {
        return ofThreads.get(Thread.currentThread());
    }

    /** The same, made if there is none yet. */
    public LockData mineToOpen() {
        LockData known = mine();
        if (known != null) {
            return known;
        }
        LockData made = new LockData(Thread.currentThread());
        ofThreads.put(Thread.currentThread(), made);
        return made;
    }

    /** The record of the leases that belong to no thread; no thread re-enters by them. */
    public LockData ofNobody() {
        return ofNobody;
    }

    /** Gets an {@link AsyncLease.Dropped} when nobody has the lease of a hold any more. */
    ReferenceQueue<Lease> dropped() {
        return dropped;
    }

    /** Forgets a record in which nothing is open, or nothing that stands. */
    public void forget(LockData useless) {
        Thread owner = useless.owner();
        if (owner != null) {
            ofThreads.remove(owner, useless);
        }
    }

    /** Whether a thread, or an asynchronous lease, holds all of these. */
    public boolean isHeld(LockGroup group) {
        return ofNobody.holds(group) || ofThreads.values().stream().anyMatch(data -> data.holds(group));
    }

    /** The records of all threads. */
    public Collection<LockData> ofThreads() {
        return ofThreads.values();
    }
}
