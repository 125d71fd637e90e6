// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import dev.zkrecipes.core.LeaseState;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * The holders of a {@link MixedLock}: the open holds of each thread, the youngest first. A thread adds its own; it or,
 * once it is dead, any thread removes them. Thread-safe.
 */
final class MixedHolds {
    private final Map<Thread, Deque<MixedLease>> open = new ConcurrentHashMap<>();

    private Deque<MixedLease> ofThisThread() {
        return open.getOrDefault(Thread.currentThread(), new ConcurrentLinkedDeque<>());
    }

    /** What the calling thread holds. */
    Optional<MixedGrant> mine() {
        return youngest().map(MixedLease::grant);
    }

    Optional<MixedLease> youngest() {
        return Optional.ofNullable(ofThisThread().peekFirst());
    }

    int count() {
        return ofThisThread().size();
    }

    /** Whether any thread has an open hold that is not lost. */
    boolean isAny() {
        return open.values().stream()
                .flatMap(Deque::stream)
                .anyMatch(lease -> lease.grant().state() != LeaseState.LOST);
    }

    /** Records one more hold of the calling thread. */
    MixedLease open(MixedGrant grant) {
        MixedLease lease = new MixedLease(grant, this, Thread.currentThread());
        open.computeIfAbsent(Thread.currentThread(), thread -> new ConcurrentLinkedDeque<>())
                .addFirst(lease);
        return lease;
    }

    /** Takes a hold away; returns whether it was the last one on its grant. */
    boolean close(MixedLease lease) {
        Deque<MixedLease> ofOwner = open.get(lease.owner());
        if (ofOwner == null || !ofOwner.remove(lease)) {
            return false;
        }
        boolean last = ofOwner.stream().noneMatch(other -> other.grant() == lease.grant());
        if (ofOwner.isEmpty()) {
            open.remove(lease.owner(), ofOwner);
        }
        return last;
    }
}
