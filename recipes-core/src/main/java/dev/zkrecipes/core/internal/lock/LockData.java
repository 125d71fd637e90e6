// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
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
public final class LockData {
    private final @Nullable Thread owner;
    private final Deque<Hold> open = new ConcurrentLinkedDeque<>(); // the youngest first
    private final Set<EngineLock> warned = ConcurrentHashMap.newKeySet();

    public LockData(@Nullable Thread owner) {
        this.owner = owner;
    }

    /** Whether the calling thread may give back what is recorded here. */
    public boolean mayClose() {
        return owner == null || owner == Thread.currentThread() || !owner.isAlive();
    }

    /** Whether the owner died holding this lock; true once for each lock. */
    public boolean isNewlyOrphaned(EngineLock lock) {
        return owner != null && !owner.isAlive() && count(lock) > 0 && warned.add(lock);
    }

    @Nullable
    public Thread owner() {
        return owner;
    }

    public String ownerName() {
        return owner == null ? "any thread" : owner.getName();
    }

    public void opened(Hold lease) {
        open.addFirst(lease);
    }

    public void closed(Hold lease) {
        open.remove(lease);
    }

    /** The lock's hold to give back next: a lost one, the oldest, before the youngest of those that stand. */
    @Nullable
    public Hold toRelease(EngineLock lock) {
        Iterator<Hold> oldestFirst = open.descendingIterator();
        Hold youngest = null;
        while (oldestFirst.hasNext()) {
            Hold hold = oldestFirst.next();
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
    public boolean isForgettable() {
        return owner != null && !owner.isAlive() && open.stream().noneMatch(Hold::isStanding);
    }

    public boolean isEmpty() {
        return open.isEmpty();
    }

    /** The number of holds that were acquired through the lock. */
    public int count(EngineLock lock) {
        return (int) open.stream().filter(hold -> hold.lock() == lock).count();
    }

    /** Whether an open hold stands on the grant. */
    public boolean needs(HeldNode grant) {
        return open.stream().anyMatch(hold -> hold.grants().contains(grant));
    }

    /** Whether holds that stand cover all these locks. */
    public boolean holds(LockGroup targets) {
        return targets.all().stream()
                .allMatch(target ->
                        open.stream().filter(Hold::isStanding).anyMatch(hold -> hold.grantOn(target) != null));
    }

    /**
     * Does nothing unless an open hold is lost.
     *
     * @throws LockLostException if one is
     */
    public void requireNoneLost() {
        open.forEach(hold -> hold.grants().forEach(HeldNode::requireNotLost));
    }

    /** The grant on this lock that the youngest open hold stands on; null if none does. It may be lost. */
    @Nullable
    public HeldNode grantOn(LockSpec target) {
        for (Hold hold : open) {
            HeldNode grant = hold.grantOn(target);
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
    public List<HeldNode> grantsToReenter(LockGroup targets) {
        List<HeldNode> found = new ArrayList<>();
        for (LockSpec target : targets.all()) {
            HeldNode grant = grantOn(target);
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

    private void requireNoneHeldOf(LockGroup targets) {
        List<String> held = open.stream()
                .filter(Hold::isStanding)
                .flatMap(hold -> hold.grants().stream())
                .map(HeldNode::lockPath)
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
