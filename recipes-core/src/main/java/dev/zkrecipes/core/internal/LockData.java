// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockRefusedException;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;

/**
 * The open holds of one owner: of a thread, through all locks of a client, or of a lock instance that holds for whoever
 * comes. The owner's thread opens and closes them; once it is dead, any thread may close, so the collection is a
 * concurrent one.
 */
final class LockData {
    private final @Nullable Thread owner;
    private final Deque<HeldLease> open = new ConcurrentLinkedDeque<>(); // the youngest first
    private final Set<EngineLock> warned = ConcurrentHashMap.newKeySet();

    LockData(@Nullable Thread owner) {
        this.owner = owner;
    }

    /** Whether the calling thread may give back what is recorded here. */
    boolean mayClose() {
        return owner == null || owner == Thread.currentThread() || !owner.isAlive();
    }

    /** Whether the owner died holding this lock; true once for each lock. */
    boolean isNewlyOrphaned(EngineLock lock) {
        return owner != null && !owner.isAlive() && count(lock) > 0 && warned.add(lock);
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

    /** The lock's hold to give back next: a lost one, the oldest, before the youngest of those that stand. */
    @Nullable
    HeldLease toRelease(EngineLock lock) {
        Iterator<HeldLease> oldestFirst = open.descendingIterator();
        HeldLease youngest = null;
        while (oldestFirst.hasNext()) {
            HeldLease hold = oldestFirst.next();
            if (hold.lock() == lock) {
                if (!hold.isStanding()) {
                    return hold;
                }
                youngest = hold;
            }
        }
        return youngest;
    }

    /** Whether the owner is dead and nothing that he holds stands: there is nothing left to say of it. */
    boolean isForgettable() {
        return owner != null && !owner.isAlive() && open.stream().noneMatch(HeldLease::isStanding);
    }

    boolean isEmpty() {
        return open.isEmpty();
    }

    /** The number of holds that were acquired through the lock. */
    int count(EngineLock lock) {
        return (int) open.stream().filter(hold -> hold.lock() == lock).count();
    }

    /** Whether an open hold stands on the grant. */
    boolean needs(Grant grant) {
        return open.stream().anyMatch(hold -> hold.grants().contains(grant));
    }

    /** Whether holds that stand cover all these locks. */
    boolean holds(LockTargets targets) {
        return targets.all().stream()
                .allMatch(target ->
                        open.stream().filter(HeldLease::isStanding).anyMatch(hold -> hold.grantOn(target) != null));
    }

    /**
     * Does nothing unless an open hold is lost.
     *
     * @throws LockLostException if one is
     */
    void requireNoneLost() {
        open.forEach(hold -> hold.grants().forEach(Grant::requireNotLost));
    }

    /** The grant on this lock that the youngest open hold stands on; null if none does. It may be lost. */
    @Nullable
    Grant grantOn(LockTarget target) {
        for (HeldLease hold : open) {
            Grant grant = hold.grantOn(target);
            if (grant != null) {
                return grant;
            }
        }
        return null;
    }

    /**
     * The grants on these locks that the owner's holds stand on, for one more hold of all; null if there are none.
     *
     * @throws LockLostException if one is lost
     * @throws LockRefusedException if the owner holds some of several locks, but not all, or holds them another way
     */
    @Nullable
    List<Grant> grantsToReenter(LockTargets targets) {
        List<Grant> found = new ArrayList<>();
        for (LockTarget target : targets.all()) {
            Grant grant = grantOn(target);
            if (grant != null) {
                grant.requireNotLost();
                found.add(grant);
            }
        }
        if (found.size() == targets.all().size()) {
            return found;
        }
        if (targets.isTogether()) {
            requireNoneHeldOf(targets);
        }
        return null;
    }

    private void requireNoneHeldOf(LockTargets targets) {
        List<String> held = open.stream()
                .filter(HeldLease::isStanding)
                .flatMap(hold -> hold.grants().stream())
                .map(Grant::lockPath)
                .distinct()
                .filter(targets.paths()::contains)
                .toList();
        if (!held.isEmpty()) {
            throw new LockRefusedException("this thread holds " + held + " and asks for " + targets.path()
                    + " together: it could wait for itself, or for a request that waits for it; give back what it holds"
                    + " first, or acquire all of them together from the start");
        }
    }
}
