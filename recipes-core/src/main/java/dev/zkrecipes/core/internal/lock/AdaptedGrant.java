// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.spi.ForeignLock;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** What a thread has of an {@link AdaptedLock}; all its re-entrant leases stand on it. */
final class AdaptedGrant {
    private final ForeignLock.Hold hold;
    private final Set<Listener> leases = ConcurrentHashMap.newKeySet();
    /** The leases that stand on it. A count, as several threads may close the leases of a dead one. */
    private final AtomicInteger open = new AtomicInteger();

    /** A lease that stands on it. */
    interface Listener {
        void onGrantLost();
    }

    AdaptedGrant(ForeignLock.Hold hold) {
        this.hold = hold;
    }

    ForeignLock.Hold hold() {
        return hold;
    }

    LeaseState state() {
        return hold.state();
    }

    /** Tells the lease of a loss, unless it is detached before. */
    void attach(Listener lease) {
        open.incrementAndGet();
        leases.add(lease);
        try {
            if (state() == LeaseState.LOST) {
                lease.onGrantLost();
            }
        } catch (RuntimeException | Error e) {
            detach(lease);
            throw e;
        }
    }

    /** Returns whether this was the last lease, with which the lock is to be given back. */
    boolean detach(Listener lease) {
        leases.remove(lease);
        return open.decrementAndGet() == 0;
    }

    void tellOfLoss() {
        leases.forEach(Listener::onGrantLost);
    }
}
