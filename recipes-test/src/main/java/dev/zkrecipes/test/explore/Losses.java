// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.explore;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Checks what leases say when a node of theirs has gone, whoever deleted it: not valid once the session's time-out has
 * passed, and lost soon after that, which is told once and without being asked. While its process stands still, time does
 * not count.
 */
final class Losses {
    private static final Duration MOST_VALID = Schedule.SESSION;
    private static final Duration MOST_UNTOLD = Schedule.SESSION.multipliedBy(3).dividedBy(2);

    private final Map<Lease, Told> told = new IdentityHashMap<>();

    private static final class Told {
        private final CompletableFuture<LeaseState> ended;
        private long goneSince = -1;
        private int times;

        Told(Lease lease) {
            this.ended = lease.ended();
            lease.onLost(() -> times++);
        }
    }

    void onGranted(Lease lease) {
        told.put(lease, new Told(lease));
    }

    void onClosing(Lease lease) {
        told.remove(lease);
    }

    /** Whether it has said so, without being asked. */
    boolean isTold(Lease lease) {
        Told of = told.get(lease);
        return of != null && of.ended.isDone() && of.ended.join() == LeaseState.LOST;
    }

    /**
     * A node of a lease is gone.
     *
     * @param isPaused whether the lease's process stands still
     * @return the promise that is broken, if one is
     */
    Optional<BrokenPromise> onNodeGone(Lease lease, boolean isPaused, long now) {
        Told of = told.get(lease);
        if (of.goneSince < 0 || isPaused) {
            of.goneSince = now;
        }
        Duration since = Duration.ofNanos(now - of.goneSince);
        if (since.compareTo(MOST_VALID) > 0 && lease.isValid()) {
            return broken("a stale lease is not valid", "is valid", since);
        }
        if (since.compareTo(MOST_UNTOLD) > 0 && !(isTold(lease) && of.times == 1)) {
            return broken("a loss is told once", of.times + " listeners heard of the loss", since);
        }
        return of.times > 1 ? broken("a loss is told once", of.times + " times", since) : Optional.empty();
    }

    private static Optional<BrokenPromise> broken(String promise, String seen, Duration since) {
        return Optional.of(new BrokenPromise(promise, seen + ", " + since.toMillis() + " ms after the node went"));
    }
}
