// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.shedlock;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.spi.LockNames;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * A held lock of a job: a lease together with the times of ShedLock. ShedLock's executor unlocks a lock even if it was
 * lost, and could not be extended. {@code AbstractSimpleLock} would refuse that, so it is not used.
 */
final class HeldJobLock implements SimpleLock {
    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration LONGEST = Duration.ofDays(36_500);
    private static final Duration SOME_TIME = Duration.ofMinutes(1);

    private final LockConfiguration configuration;
    private final Lease lease;
    private final long since;
    private final Runnable jobEnded;
    private volatile boolean isOver; // whether it was unlocked, or extended

    /**
     * Creates a lock that was just acquired or extended.
     *
     * @param since the start of {@code lockAtLeastFor}, by {@link System#nanoTime}
     * @param jobEnded called when the lock is unlocked
     */
    HeldJobLock(LockConfiguration configuration, Lease lease, long since, Runnable jobEnded) {
        this.configuration = configuration;
        this.lease = lease;
        this.since = since;
        this.jobEnded = jobEnded;
    }

    /** Limits a time to the range that {@link dev.zkrecipes.core.LockOptions#withHoldAtMost} accepts. */
    static Duration bounded(Duration time) {
        Duration upTo = time.compareTo(LONGEST) > 0 ? LONGEST : time;
        return upTo.compareTo(SHORTEST) < 0 ? SHORTEST : upTo;
    }

    @Override
    public void unlock() {
        requireNotOver();
        Duration left = configuration.getLockAtLeastFor().minusNanos(System.nanoTime() - since);
        try {
            if (left.isNegative() || left.isZero()) {
                lease.close();
            } else {
                keep(bounded(left));
            }
        } catch (dev.zkrecipes.core.LockException e) {
            throw ZooKeeperLockProvider.failed(configuration, e);
        } finally {
            jobEnded.run();
        }
        isOver = true;
    }

    /**
     * Keeps the lock for the rest of {@code lockAtLeastFor}, and then closes the lease. The job has ended, so its limit
     * no longer applies: the lease is prolonged beyond its close, because otherwise it could be lost at the very moment
     * at which it is closed.
     */
    private void keep(Duration left) {
        lease.prolong(bounded(left.plus(SOME_TIME)));
        var unused = lease.closeAfter(left);
    }

    @Override
    public Optional<SimpleLock> extend(Duration lockAtMostFor, Duration lockAtLeastFor) {
        requireNotOver();
        LockConfiguration extended =
                new LockConfiguration(ClockProvider.now(), configuration.getName(), lockAtMostFor, lockAtLeastFor);
        long now = System.nanoTime();
        if (!lease.prolong(bounded(lockAtMostFor))) {
            return Optional.empty();
        }
        isOver = true;
        return Optional.of(new HeldJobLock(extended, lease, now, jobEnded));
    }

    private void requireNotOver() {
        if (isOver) {
            throw new IllegalStateException("lock " + LockNames.nodeOf(configuration.getName())
                    + ": it was unlocked or extended already; after an extension, use the lock that it has returned");
        }
    }
}
