// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A semaphore of Apache Curator ({@code InterProcessSemaphoreV2}, {@code InterProcessSemaphoreMutex}): a folder of
 * leases, and a folder with the mutex under which one of its users at a time takes a lease. That user makes the lease
 * first and then waits, with the mutex, until there is room; so a lease that is there is held, but perhaps not the
 * newest one.
 *
 * @param path the path of the semaphore
 * @param leases its folder of leases
 * @param locks its folder of the queue for the mutex
 */
record CuratorSemaphore(String path, Queue leases, Queue locks) {
    static final String LEASES = "leases";
    static final String LOCKS = "locks";

    /** Whether two folders are those of a semaphore, going by what is in them. */
    static boolean isOne(Queue leases, Queue locks) {
        boolean anybody = !leases.nodes().isEmpty() || !locks.nodes().isEmpty();
        return anybody
                && leases.nodes().stream().allMatch(node -> node.named().kind() == Kind.CURATOR_LEASE)
                && locks.nodes().stream().allMatch(node -> node.named().kind() == Kind.MUTEX);
    }

    LockView view() {
        List<Place> places = new ArrayList<>();
        boolean firstHasItsLease = false;
        int newest = leases.nodes().size() - 1;
        for (int i = 0; i <= newest; i++) {
            boolean mayWait = i == newest && isOfFirst(leases.nodes().get(i));
            firstHasItsLease |= mayWait;
            Standing standing = mayWait ? Standing.UNKNOWN : Standing.HOLDS;
            places.add(leases.nodes().get(i).at(places.size(), standing, LEASES + "/"));
        }
        for (Node node :
                locks.nodes().subList(firstHasItsLease ? 1 : 0, locks.nodes().size())) {
            places.add(node.at(places.size(), Standing.WAITS, LOCKS + "/"));
        }
        List<String> notes = new ArrayList<>();
        notes.add("Curator keeps the limit in the code of its users, not in ZooKeeper");
        if (firstHasItsLease) {
            notes.add("ZooKeeper does not show whether the newest lease is held or still waits for room");
        }
        List<Node> all = new ArrayList<>(leases.nodes());
        all.addAll(locks.nodes());
        notes.addAll(Queue.notesOn(all));
        return new LockView(path, true, SeenRecipe.CURATOR_SEMAPHORE, Optional.empty(), places, notes);
    }

    /** Whether a lease belongs to the session that has the mutex now. */
    private boolean isOfFirst(Node lease) {
        return !locks.nodes().isEmpty()
                && lease.origin().session() != 0
                && locks.nodes().get(0).origin().session() == lease.origin().session();
    }
}
