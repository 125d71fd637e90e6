// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import com.google.common.collect.Lists;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.spi.ForeignLock;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockParts;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/** The leases of all parts of a {@link MixedLock}. */
final class MixedHold implements ForeignLock.Hold {
    private final String path;
    private final List<Lease> leases;

    /**
     * Takes over the leases. From now on any thread may close them, because the owner of this hold decides who releases
     * it.
     */
    MixedHold(String path, List<Lease> leases) {
        this.path = path;
        this.leases = List.copyOf(leases);
        this.leases.forEach(LockInternals::letAnyThreadClose);
    }

    /** Returns the worst state of all leases. A loss takes precedence, even if other leases were released since. */
    @Override
    public LeaseState state() {
        List<LeaseState> states = leases.stream().map(Lease::state).toList();
        return states.contains(LeaseState.LOST) ? LeaseState.LOST : Collections.max(states);
    }

    /**
     * The listener runs where the client of the lost lease reports losses. That client also logs a failure of the
     * listener.
     */
    @Override
    public void onLost(Runnable listener) {
        List<Lease> lost = leases.stream()
                .filter(lease -> lease.state() == LeaseState.LOST)
                .limit(1)
                .toList();
        AtomicBoolean told = new AtomicBoolean();
        (lost.isEmpty() ? leases : lost)
                .forEach(lease -> lease.onLost(() -> {
                    if (told.compareAndSet(false, true)) {
                        listener.run();
                    }
                }));
    }

    @Override
    public Map<String, Long> fencingTokens() {
        Map<String, Long> tokens = new HashMap<>();
        for (Lease lease : leases) {
            MultiLease.tokensOf(lease).forEach((member, token) -> {
                if (tokens.put(member, token) != null) {
                    throw new IllegalStateException("two members of the multi-lock " + path + " have the path " + member
                            + ", so a path does not tell whose token it is: give the members different paths");
                }
            });
        }
        return Map.copyOf(tokens);
    }

    @Override
    public List<Op> guards() {
        return leases.stream()
                .map(MultiLease::guardsOf)
                .flatMap(Collection::stream)
                .toList();
    }

    @Override
    public void verify() throws InterruptedException {
        LockParts.verifyAll(leases);
    }

    @Override
    public void prolong(Duration most) {
        leases.forEach(lease -> lease.prolong(most));
    }

    /**
     * The listener runs on the callback executors of the clients. A request that marks several leases is reported once.
     */
    @Override
    public void onRevocationRequested(Consumer<RevocationRequest> listener) {
        Set<String> told = ConcurrentHashMap.newKeySet();
        leases.forEach(lease -> lease.onRevocationRequested(request -> {
            if (state() != LeaseState.LOST && told.add(request.id())) {
                listener.accept(request);
            }
        }));
    }

    @Override
    public void release() {
        LockParts.closeAll(leases);
    }

    @Override
    public void releaseInBackground() {
        var unused = beginClosing(leases);
    }

    /**
     * Closing the leases again releases those that only this thread can release. The others are on their way back
     * already, so nothing is waited for.
     */
    @Override
    public void releaseByOwner() {
        releaseInBackground();
    }

    /** Closing a lease again sends nothing; it returns the future of the first close. */
    @Override
    public CompletableFuture<Void> released() {
        return allOf(beginClosing(leases));
    }

    /** Closes all leases without waiting, the last one first, even if closing one of them fails. */
    static List<CompletableFuture<Void>> beginClosing(List<Lease> leases) {
        return Lists.reverse(leases).stream().map(MixedHold::closeAsync).toList();
    }

    static CompletableFuture<Void> allOf(List<CompletableFuture<Void>> closes) {
        return CompletableFuture.allOf(closes.toArray(CompletableFuture<?>[]::new));
    }

    private static CompletableFuture<Void> closeAsync(Lease lease) {
        try {
            return lease.closeAsync();
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Returns the first failure, to which the next one is added as suppressed. */
    static Throwable with(@Nullable Throwable first, Throwable next) {
        if (first == null) {
            return next;
        }
        if (first != next) {
            first.addSuppressed(next);
        }
        return first;
    }

    @Override
    public String toString() {
        return leases.toString();
    }
}
