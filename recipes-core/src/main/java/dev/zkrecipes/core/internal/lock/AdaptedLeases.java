// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.stream.Stream;

/**
 * The open leases of an {@link AdaptedLock}, by their threads. Thread-safe.
 *
 * <p>A thread that dies may leave leases behind that nobody closes. As long as they stand they belong here, since the
 * lock is held. Lost ones are forgotten: at the loss, or, if the thread outlives the loss, when there are many threads.
 */
final class AdaptedLeases {
    private static final int FEW = 16;

    /** The leases of each thread, the youngest first. */
    private final Map<Thread, Deque<AdaptedLease>> open = new ConcurrentHashMap<>();

    /** Twice as many threads as were left the last time, so that a look costs each of them little. */
    private volatile int many = FEW;

    /** A lease of the calling thread. */
    void add(AdaptedLease lease) {
        open.computeIfAbsent(lease.owner(), thread -> new ConcurrentLinkedDeque<>())
                .addFirst(lease);
        if (open.size() > many) {
            open.entrySet().removeIf(each -> areLeftBehind(each.getKey(), each.getValue()));
            many = Math.max(FEW, 2 * open.size());
        }
    }

    /** Takes a closed lease away. */
    void forget(AdaptedLease lease) {
        Deque<AdaptedLease> ofOwner = of(lease.owner());
        ofOwner.remove(lease);
        if (ofOwner.isEmpty()) {
            open.remove(lease.owner(), ofOwner);
        }
    }

    /** A thread's lock was lost. */
    void onLost(Thread owner) {
        Deque<AdaptedLease> lost = of(owner);
        if (areLeftBehind(owner, lost)) {
            open.remove(owner, lost);
        }
    }

    /** A dead thread adds none, so this stays so. */
    private static boolean areLeftBehind(Thread owner, Deque<AdaptedLease> leases) {
        return !owner.isAlive() && leases.stream().allMatch(AdaptedLease::hasEnded);
    }

    /** The calling thread's, the youngest first. */
    Deque<AdaptedLease> mine() {
        return of(Thread.currentThread());
    }

    private Deque<AdaptedLease> of(Thread owner) {
        return open.getOrDefault(owner, new ConcurrentLinkedDeque<>());
    }

    Stream<AdaptedLease> all() {
        return open.values().stream().flatMap(Deque::stream);
    }
}
