// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.ThreadName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Several locks that cannot enter together, as one.
 *
 * <p>It waits for one and tries the others. If one of those is busy, it releases everything and, after a pause of random
 * length, waits for the busy one. So it never waits while it holds anything, and no thread can wait for this one
 * while it waits.
 */
final class MixedLock implements InterProcessLock {
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(5);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(200);

    private final List<InterProcessLock> parts;
    private final MixedHolds holds = new MixedHolds();

    MixedLock(List<InterProcessLock> parts) {
        this.parts = parts;
    }

    @Override
    public String path() {
        return parts.stream().map(InterProcessLock::path).collect(Collectors.joining(","));
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return acquire(TimeLimit.NONE).orElseThrow();
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        Objects.requireNonNull(timeout, "the time-out is null: give a duration, zero for none");
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("negative time-out " + timeout);
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return timeout.isZero() ? tryAcquire() : acquire(TimeLimit.after(timeout));
    }

    @Override
    public Optional<Lease> tryAcquire() {
        Optional<Lease> again = reenter();
        if (again.isPresent()) {
            return again;
        }
        List<Lease> leases = new ArrayList<>();
        Optional<Lease> all = tryRest(0, leases, InterProcessLock::tryAcquire);
        if (all.isEmpty()) {
            MixedGrant.giveBack(leases);
        }
        return all;
    }

    private Optional<Lease> acquire(TimeLimit limit) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Optional<Lease> again = reenter();
        if (again.isPresent()) {
            return again;
        }
        Duration pause = SHORTEST_PAUSE;
        int first = 0;
        while (true) {
            Optional<Lease> waitedFor = limit.acquire(parts.get(first));
            if (waitedFor.isEmpty()) {
                return limit.overdue();
            }
            List<Lease> leases = new ArrayList<>(List.of(waitedFor.get()));
            Optional<Lease> all = tryRest(first, leases, limit::tryAtOnce);
            if (all.isPresent()) {
                return all;
            }
            first = (first + leases.size()) % parts.size(); // the busy one
            limit.giveBack(leases);
            if (!limit.pause(jittered(pause))) {
                return limit.overdue();
            }
            pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
        }
    }

    private static Duration jittered(Duration pause) {
        return Duration.ofNanos(ThreadLocalRandom.current().nextLong(pause.toNanos() / 2, pause.toNanos() + 1));
    }

    /**
     * Tries the parts from {@code first} on that there is no lease of yet. Gives all back if anything fails.
     *
     * @param leases those that are held; afterwards also those that were tried with success
     * @return a hold of all; empty, and the leases are still held, if one of the others is busy
     */
    private Optional<Lease> tryRest(int first, List<Lease> leases, Function<InterProcessLock, Optional<Lease>> trying) {
        try {
            while (leases.size() < parts.size()) {
                Optional<Lease> lease = trying.apply(parts.get((first + leases.size()) % parts.size()));
                if (lease.isEmpty()) {
                    return Optional.empty();
                }
                leases.add(lease.get());
            }
            return Optional.of(holds.open(MixedGrant.on(path(), leases)));
        } catch (RuntimeException | Error e) {
            try {
                MixedGrant.giveBack(leases);
            } catch (RuntimeException | Error failure) {
                var unused = MixedGrant.with(e, failure);
            }
            throw e;
        }
    }

    /** One more hold, if the thread has one. */
    private Optional<Lease> reenter() {
        Optional<MixedGrant> held = holds.mine();
        if (held.isPresent()) {
            held.get().requireNotLost();
            return Optional.of(holds.open(held.get()));
        }
        parts.forEach(LockGroups::requireNotHeldInPart);
        List<String> heldPaths = parts.stream()
                .filter(InterProcessLock::isHeldByCurrentThread)
                .map(InterProcessLock::path)
                .toList();
        if (!heldPaths.isEmpty() && heldPaths.size() < parts.size()) {
            throw new LockRefusedException("this thread holds " + heldPaths + " and asks for " + path()
                    + " together: it could wait for itself, or for a request that waits for it; release what it holds"
                    + " first, or acquire all of them together from the start");
        }
        return Optional.empty();
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        throw new UnsupportedOperationException("the members of the multi-lock " + path()
                + " are not all of one ZooKeeperClient, so their leases belong to the thread that acquires them:"
                + " use acquire or tryAcquire");
    }

    @Override
    public void release() {
        MixedLease youngest = holds.youngest()
                .orElseThrow(() -> new IllegalMonitorStateException(
                        "thread " + ThreadName.ofCaller() + " does not hold the multi-lock " + path()));
        youngest.close();
        if (youngest.state() == LeaseState.LOST) {
            youngest.requireNotLost();
        }
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return holds.mine().filter(grant -> grant.state() != LeaseState.LOST).isPresent();
    }

    @Override
    public int holdCount() {
        return holds.count();
    }

    @Override
    public boolean isAcquiredInThisProcess() {
        return holds.isAny();
    }

    @Override
    public List<Participant> participants() throws InterruptedException {
        List<Participant> all = new ArrayList<>();
        for (InterProcessLock part : parts) {
            all.addAll(part.participants());
        }
        return List.copyOf(all);
    }

    @Override
    public Lock asLock() {
        return LockGroups.asLock(this);
    }

    @Override
    public String toString() {
        return path() + ", " + holds.youngest().map(Lease::toString).orElse("not held by this thread") + ", of "
                + parts;
    }
}
