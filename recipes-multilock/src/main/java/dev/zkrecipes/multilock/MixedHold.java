// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import com.google.common.base.Throwables;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/** The leases of all parts of a {@link MixedLock}. All re-entrant holds of a thread stand on the same ones. */
final class MixedGrant {
    private final String path;
    private final List<Lease> leases;
    private final Set<MixedLease> holds = ConcurrentHashMap.newKeySet();
    private volatile boolean lost;

    private MixedGrant(String path, List<Lease> leases) {
        this.path = path;
        this.leases = List.copyOf(leases);
    }

    /** Stands on these leases, which tell of a loss where their clients tell it. */
    static MixedGrant on(String path, List<Lease> leases) {
        MixedGrant grant = new MixedGrant(path, leases);
        grant.leases.forEach(lease -> lease.onLost(grant::tellHolds));
        return grant;
    }

    private void tellHolds() {
        lost = true;
        holds.forEach(MixedLease::onGrantLost);
    }

    /** Runs the listener, where the client of a lost member tells losses; a failure of it is logged there. */
    void tellLoss(Runnable listener) {
        leases.stream()
                .filter(lease -> lease.state() == LeaseState.LOST)
                .findFirst()
                .ifPresent(lost -> lost.onLost(listener));
    }

    /** Tells the hold of a loss, unless it is detached before. */
    void attach(MixedLease hold) {
        holds.add(hold);
        if (lost) {
            hold.onGrantLost();
        }
    }

    void detach(MixedLease hold) {
        holds.remove(hold);
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
        for (Lease lease : leases) {
            lease.fencingTokens().forEach((member, token) -> {
                if (tokens.put(member, token) != null) {
                    throw new IllegalStateException("two members of the multi-lock " + path + " have the path " + member
                            + ", so a path does not tell whose token it is: give the members different paths");
                }
            });
        }
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
        Throwable first = null;
        for (int i = leases.size() - 1; i >= 0; i--) {
            try {
                leases.get(i).close();
            } catch (RuntimeException | Error e) {
                first = with(first, e);
            }
        }
        if (first != null) {
            Throwables.throwIfUnchecked(first);
        }
    }

    /** Closes all without waiting. */
    CompletableFuture<Void> giveBackAsync() {
        return giveBackAsync(leases);
    }

    /** The same for leases that are no grant yet. */
    static CompletableFuture<Void> giveBackAsync(List<Lease> leases) {
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

    /** The first failure, which tells of the next one too. */
    static Throwable with(@Nullable Throwable first, Throwable next) {
        if (first == null) {
            return next;
        }
        if (first != next) {
            first.addSuppressed(next);
        }
        return first;
    }
}
