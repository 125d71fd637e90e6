// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.LockUpgradeException;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockSpec;
import org.jspecify.annotations.Nullable;

/**
 * The two modes of one lock. A thread that holds the exclusive one may take the shared one, not the other way round.
 *
 * @param exclusive what the mode that excludes everybody is acquired on
 * @param shared what the mode that many may hold is acquired on
 */
public record LockModes(LockSpec exclusive, LockSpec shared) {

    /**
     * The exclusive grant that a request of its thread for this mode can go on from; null if there is none.
     *
     * @throws LockUpgradeException if the thread holds the shared mode and asks for the exclusive one
     * @throws dev.zkrecipes.core.LockLostException if the thread holds the other mode and has lost it
     */
    @Nullable
    public HeldNode toDowngrade(LockSpec asked, @Nullable LockData mine) {
        if (mine == null) {
            return null;
        }
        HeldNode other = mine.grantOn(asked == shared ? exclusive : shared);
        if (other == null) {
            return null;
        }
        other.requireNotLost();
        if (asked == exclusive) {
            throw new LockUpgradeException("this thread holds the lock " + asked.path()
                    + " in its shared mode and asks for the exclusive one: it would wait for itself; give the shared"
                    + " hold back first, or acquire the exclusive mode before it");
        }
        return other;
    }
}
