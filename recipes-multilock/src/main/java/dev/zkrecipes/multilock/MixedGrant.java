// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/** The leases of all parts of a {@link MixedLock}. All re-entrant holds of a thread stand on the same ones. */
final class MixedGrant {
    private final String path;
    private final List<Lease> leases;

    MixedGrant(String path, List<Lease> leases) {
        this.path = path;
        this.leases = List.copyOf(leases);
    }

    String path() {
        return path;
    }

    List<Lease> leases() {
        return leases;
    }

    /** The worst state of all; a loss is worse than that others were given back since. */
    LeaseState state() {
        List<LeaseState> states = leases.stream().map(Lease::state).toList();
        return states.contains(LeaseState.LOST) ? LeaseState.LOST : Collections.max(states);
    }

    void requireNotLost() {
        if (state() == LeaseState.LOST) {
            throw new LockLostException(
                    "lost the multi-lock " + path + ": at least one of its members is lost; stop what"
                            + " it protects, close every lease of it, then acquire afresh");
        }
    }

    Map<String, Long> fencingTokens() {
        Map<String, Long> tokens = new TreeMap<>();
        leases.forEach(lease -> tokens.putAll(lease.fencingTokens()));
        return Map.copyOf(tokens);
    }

    List<Op> guards() {
        return leases.stream().map(Lease::guards).flatMap(Collection::stream).toList();
    }

    void verify() throws InterruptedException {
        for (Lease lease : leases) {
            lease.verify();
        }
    }

    void giveBack() {
        giveBack(leases);
    }

    /** Closes all, the last one first, whatever becomes of one of them. */
    static void giveBack(List<Lease> leases) {
        RuntimeException first = null;
        for (int i = leases.size() - 1; i >= 0; i--) {
            try {
                leases.get(i).close();
            } catch (RuntimeException e) {
                first = with(first, e);
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /** Closes all without waiting. */
    CompletableFuture<Void> giveBackAsync() {
        return CompletableFuture.allOf(
                leases.stream().map(MixedGrant::closeAsync).toArray(CompletableFuture<?>[]::new));
    }

    private static CompletableFuture<Void> closeAsync(Lease lease) {
        try {
            return lease.closeAsync();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static RuntimeException with(@Nullable RuntimeException first, RuntimeException next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }
}
