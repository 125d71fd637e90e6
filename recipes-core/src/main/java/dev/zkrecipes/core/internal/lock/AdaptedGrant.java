// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.spi.ForeignLock;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What a thread has of an {@link AdaptedLock}; all its re-entrant leases stand on it. */
final class AdaptedGrant {
    private final ForeignLock.Hold hold;
    private final Set<AdaptedLease> leases = ConcurrentHashMap.newKeySet();

    AdaptedGrant(ForeignLock.Hold hold) {
        this.hold = hold;
    }

    LeaseState state() {
        return hold.state();
    }

    void release() {
        hold.release();
    }

    /** Tells the lease of a loss, unless it is detached before. */
    void attach(AdaptedLease lease) {
        leases.add(lease);
        if (state() == LeaseState.LOST) {
            lease.onLost();
        }
    }

    void detach(AdaptedLease lease) {
        leases.remove(lease);
    }

    void tellOfLoss() {
        leases.forEach(AdaptedLease::onLost);
    }
}
