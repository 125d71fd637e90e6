// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The holds of the calling thread that it has not given back. Curator's own records of a thread outlive the session: a
 * thread that has lost the write lock would be given the read lock at once, beside the writer that came after it.
 */
final class OwnHolds {
    private static final ThreadLocal<Set<CuratorHold>> MINE = ThreadLocal.withInitial(LinkedHashSet::new);

    private OwnHolds() {}

    static void add(CuratorHold hold) {
        MINE.get().add(hold);
    }

    /** Those of a dead thread, which another one gives back, are gone with it. */
    static void remove(CuratorHold hold) {
        Set<CuratorHold> mine = MINE.get();
        mine.remove(hold);
        if (mine.isEmpty()) {
            MINE.remove();
        }
    }

    /**
     * To be called before a lock is asked for.
     *
     * @throws LockLostException if the thread has lost a lock on the same path and not given it back
     */
    static void requireNoneLost(CuratorLock lock) {
        for (CuratorHold hold : MINE.get()) {
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
