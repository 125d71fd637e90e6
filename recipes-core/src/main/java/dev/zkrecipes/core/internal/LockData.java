// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.LockLostException;
import java.util.Deque;
import java.util.Iterator;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;

/**
 * The open holds of one owner: of a thread, or of a lock instance that holds for whoever comes. The owner's thread
 * opens and closes them; once it is dead, any thread may close, so the collection is a concurrent one.
 */
final class LockData {
    private final @Nullable Thread owner;
    private final Deque<HeldLease> open = new ConcurrentLinkedDeque<>();
    private volatile boolean warned;

    LockData(@Nullable Thread owner) {
        this.owner = owner;
    }

    /** Whether the calling thread may give back what is recorded here. */
    boolean mayClose() {
        return owner == null || owner == Thread.currentThread() || !owner.isAlive();
    }

    /** Whether the owner died holding; true once. */
    boolean isNewlyOrphaned() {
        if (owner == null || owner.isAlive() || warned || open.isEmpty()) {
            return false;
        }
        warned = true;
        return true;
    }

    @Nullable
    Thread owner() {
        return owner;
    }

    String ownerName() {
        return owner == null ? "any thread" : owner.getName();
    }

    void opened(HeldLease lease) {
        open.addFirst(lease);
    }

    void closed(HeldLease lease) {
        open.remove(lease);
    }

    /** The hold to give back next: a lost one, the oldest, before the youngest of those that stand. */
    @Nullable
    HeldLease toRelease() {
        Iterator<HeldLease> oldestFirst = open.descendingIterator();
        while (oldestFirst.hasNext()) {
            HeldLease hold = oldestFirst.next();
            if (!hold.isStanding()) {
                return hold;
            }
        }
        return open.peekFirst();
    }

    /** Whether the owner is dead and nothing that he holds stands: there is nothing left to say of it. */
    boolean isForgettable() {
        return owner != null && !owner.isAlive() && !isHeld();
    }

    int count() {
        return open.size();
    }

    boolean isEmpty() {
        return open.isEmpty();
    }

    /** Whether an open hold stands on the grant. */
    boolean needs(Grant grant) {
        return open.stream().anyMatch(hold -> hold.grant() == grant);
    }

    boolean isHeld() {
        return open.stream().anyMatch(HeldLease::isStanding);
    }

    /**
     * Does nothing unless an open hold is lost.
     *
     * @throws LockLostException if one is
     */
    void requireNoneLost() {
        open.forEach(hold -> hold.grant().requireNotLost());
    }

    /**
     * The grant that the owner's holds stand on, for one more of them; null if there are none.
     *
     * @throws LockLostException if it is lost
     */
    @Nullable
    Grant grantToReenter() {
        HeldLease hold = open.peekFirst();
        if (hold == null) {
            return null;
        }
        hold.grant().requireNotLost();
        return hold.grant();
    }
}
