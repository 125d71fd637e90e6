// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The holds that the calling thread has not released. Curator's own records of a thread outlive the session: by them, a
 * thread that has lost the write lock would get the read lock at once, although another writer holds the lock by now.
 */
final class OwnHolds {
    private static final ThreadLocal<Set<CuratorHold>> MINE = ThreadLocal.withInitial(LinkedHashSet::new);

    private OwnHolds() {}

    static void add(CuratorHold hold) {
        MINE.get().add(hold);
    }

    /**
     * Removes a hold of the calling thread. Has no effect on another thread, which may release the hold of a dead
     * thread, or one whose time is over.
     */
    static void remove(CuratorHold hold) {
        keep(mine -> mine.remove(hold));
    }

    /** Changes the record of the calling thread. A thread without holds has none. */
    private static void keep(Consumer<Set<CuratorHold>> change) {
        Set<CuratorHold> mine = MINE.get();
        change.accept(mine);
        if (mine.isEmpty()) {
            MINE.remove();
        }
    }

    /**
     * Refuses a request for a lock while the calling thread still has a lost one. Call this before each request.
     *
     * @throws LockLostException if the thread has lost a lock on the same path and not released it
     */
    static void requireNoneLost(CuratorLock lock) {
        keep(mine -> {
            mine.removeIf(CuratorHold::isGivenBack); // by other threads, which cannot reach this record
            requireNoneLost(lock, mine);
        });
    }

    private static void requireNoneLost(CuratorLock lock, Set<CuratorHold> mine) {
        for (CuratorHold hold : mine) {
            if (hold.isOnPathOf(lock) && hold.state() == LeaseState.LOST) {
                String reason = "this thread has lost a lock on that path";
                throw new LockLostException(
                        "Curator's lock " + lock.path() + ": " + reason
                                + ": stop what it protects, close every lease of it, then acquire afresh",
                        reason);
            }
        }
    }
}
