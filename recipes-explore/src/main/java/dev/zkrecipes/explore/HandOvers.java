// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.MultiLease;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Checks nodes that are handed over from holder to holder inside a process, where the ensemble sees nothing. A node
 * must have one holder at a time, in the order of tokens; it must not be handed over more often than allowed, and not
 * after a loss.
 */
final class HandOvers {
    private final int most; // the largest number of hand-overs of one node
    private final Map<String, Set<Long>> tokens = new HashMap<>(); // by node
    private final Set<String> lost = new HashSet<>();

    /** A lease that was granted and is not closed yet, with its holder and its nodes. */
    record Open(String who, Lease lease, List<String> nodes) {}

    HandOvers(int most) {
        this.most = most;
    }

    /** Records that the hold of these nodes is lost. */
    void onLost(List<String> nodes) {
        lost.addAll(nodes);
    }

    /**
     * Checks that a node may be granted to a holder, and records its token.
     *
     * @param beside the open holds
     * @return the promise that is broken, if one is
     */
    Optional<BrokenPromise> onGranted(String who, Lease lease, String node, long token, List<Open> beside) {
        Set<Long> earlier = tokens.computeIfAbsent(node, absent -> new HashSet<>());
        boolean reenters = false;
        for (Open other : beside) {
            if (other.nodes().contains(node)) {
                if (other.lease().state() != LeaseState.LOST && tokenOf(other.lease()) != token) {
                    return broken("holders do not conflict", who + " is granted " + node + " beside " + other.who());
                }
                reenters = true;
            }
        }
        if (!earlier.isEmpty() && !reenters) {
            if (lost.contains(node)) {
                return broken("what is lost is not passed on", who + " is granted " + node);
            }
            if (earlier.stream().anyMatch(other -> other >= token)) {
                return broken(
                        "tokens rise", who + " is granted " + node + " with token " + token + " after " + earlier);
            }
            if (lease.state() == LeaseState.LOST) {
                return broken("what is lost is not passed on", who + " is granted " + node + ", and it is lost");
            }
        }
        earlier.add(token);
        return earlier.size() > most + 1
                ? broken("the bound is kept", node + " was passed on more than " + most + " times")
                : Optional.empty();
    }

    private static long tokenOf(Lease lease) {
        return MultiLease.tokensOf(lease).values().iterator().next();
    }

    private static Optional<BrokenPromise> broken(String promise, String seen) {
        return Optional.of(new BrokenPromise(promise, seen));
    }
}
