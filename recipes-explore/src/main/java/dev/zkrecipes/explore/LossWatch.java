// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Checks what a lease reports once one of its nodes is gone, whoever deleted it. The lease must not be valid once the
 * session time-out has elapsed. Soon after that it must be lost, and it must report the loss once and without being
 * asked. Time does not count while the process is paused.
 */
final class LossWatch {
    private static final Duration MOST_VALID = Schedule.SESSION;
    private static final Duration MOST_UNTOLD = Schedule.SESSION.multipliedBy(3).dividedBy(2);
    private static final long NOT_GONE = -1;

    private final Lease lease;
    private final CompletableFuture<LeaseState> ended;
    private long goneSince = NOT_GONE;
    private int told;

    LossWatch(Lease lease) {
        this.lease = lease;
        this.ended = lease.ended().toCompletableFuture();
        lease.onLost(() -> told++);
    }

    /** Whether the lease has reported its loss without being asked. */
    boolean isTold() {
        return ended.isDone() && ended.join() == LeaseState.LOST;
    }

    /**
     * Checks the lease once one of its nodes is gone.
     *
     * @param isPaused whether the process of the lease is paused
     * @return the promise that is broken, if one is
     */
    Optional<BrokenPromise> onNodeGone(boolean isPaused, long now) {
        if (goneSince == NOT_GONE || isPaused) {
            goneSince = now;
        }
        Duration since = Duration.ofNanos(now - goneSince);
        if (since.compareTo(MOST_VALID) > 0 && lease.isValid()) {
            return broken("a stale lease is not valid", "is valid", since);
        }
        boolean isDue = since.compareTo(MOST_UNTOLD) > 0;
        return told > 1 || (isDue && (told == 0 || !isTold()))
                ? broken("a loss is told once", "told " + told + " times", since)
                : Optional.empty();
    }

    private static Optional<BrokenPromise> broken(String promise, String seen, Duration since) {
        return Optional.of(new BrokenPromise(promise, seen + ", " + since.toMillis() + " ms after the node went"));
    }
}
