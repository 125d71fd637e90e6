// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.spi.ForeignLock;
import dev.zkrecipes.core.spi.LockParts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Several locks that cannot enter together, as one lock.
 *
 * <p>A request waits for one lock and tries the others. If one of those is busy, it releases everything and, after a
 * pause of random length, waits for the busy one. So it never waits while it holds anything, and nobody can wait for it
 * while it waits.
 */
final class MixedLock implements ForeignLock {
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(5);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(200);

    private final List<InterProcessLock> parts;

    MixedLock(List<InterProcessLock> parts) {
        this.parts = parts;
    }

    @Override
    public String path() {
        return parts.stream().map(InterProcessLock::path).collect(Collectors.joining(","));
    }

    @Override
    public Hold acquire() throws InterruptedException {
        return acquire(TimeLimit.none()).orElseThrow();
    }

    @Override
    public Optional<Hold> tryAcquire(Duration atMost) throws InterruptedException {
        return atMost.isZero() ? tryAll() : acquire(TimeLimit.after(atMost));
    }

    private Optional<Hold> tryAll() {
        requireNotHeldInPart();
        List<Lease> leases = new ArrayList<>();
        Optional<Hold> all = tryRest(0, leases, InterProcessLock::tryAcquire, TimeLimit.none());
        if (all.isEmpty()) {
            LockParts.closeAll(leases);
        }
        return all;
    }

    private Optional<Hold> acquire(TimeLimit limit) throws InterruptedException {
        requireNotHeldInPart();
        Duration pause = SHORTEST_PAUSE;
        int first = 0;
        while (true) {
            Optional<Lease> waitedFor = limit.acquire(parts.get(first));
            if (waitedFor.isEmpty()) {
                return limit.overdue();
            }
            List<Lease> leases = new ArrayList<>(List.of(waitedFor.get()));
            Optional<Hold> all = tryRest(first, leases, limit::tryAtOnce, limit);
            if (all.isPresent()) {
                return all;
            }
            first = (first + leases.size()) % parts.size(); // the busy part
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
     * Tries the parts that have no lease yet, in the order that begins with {@code first}. Releases all leases if
     * anything fails, and waits for that no longer than the limit allows.
     *
     * @param leases the leases that are held; those that are acquired here are added
     * @return a hold of all parts; empty if a part is busy, in which case the leases are still held
     */
    private Optional<Hold> tryRest(
            int first, List<Lease> leases, Function<InterProcessLock, Optional<Lease>> trying, TimeLimit limit) {
        try {
            while (leases.size() < parts.size()) {
                Optional<Lease> lease = trying.apply(parts.get((first + leases.size()) % parts.size()));
                if (lease.isEmpty()) {
                    return Optional.empty();
                }
                leases.add(lease.get());
            }
            return Optional.of(new MixedHold(path(), leases));
        } catch (RuntimeException | Error e) {
            limit.giveBackAfter(e, leases);
            throw e;
        }
    }

    private void requireNotHeldInPart() {
        parts.forEach(LockParts::requireNotHeldInPart);
        List<String> heldPaths = parts.stream()
                .filter(InterProcessLock::isHeldByCurrentThread)
                .map(InterProcessLock::path)
                .toList();
        if (!heldPaths.isEmpty() && heldPaths.size() < parts.size()) {
            throw new LockRefusedException("this thread holds " + heldPaths + " and asks for " + path()
                    + " together: it could wait for itself, or for a request that waits for it; release what it holds"
                    + " first, or acquire all of them together from the start");
        }
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
    public String toString() {
        return "of " + parts;
    }
}
