// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.shedlock;

import dev.zkrecipes.core.Lease;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/** A held lock of a job: a lease together with the times of ShedLock. */
final class HeldJobLock extends AbstractSimpleLock {
    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration LONGEST = Duration.ofDays(36_500);
    private static final Duration SOME_TIME = Duration.ofMinutes(1);

    private final Lease lease;
    private final long since;
    private final Runnable jobEnded;

    /**
     * Creates a lock that was just acquired or extended.
     *
     * @param since the start of {@code lockAtLeastFor}, by {@link System#nanoTime}
     * @param jobEnded called when the lock is unlocked
     */
    HeldJobLock(LockConfiguration configuration, Lease lease, long since, Runnable jobEnded) {
        super(configuration);
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
    protected void doUnlock() {
        Duration left = lockConfiguration.getLockAtLeastFor().minusNanos(System.nanoTime() - since);
        try {
            if (left.isNegative() || left.isZero()) {
                lease.close();
            } else {
                keep(bounded(left));
            }
        } catch (dev.zkrecipes.core.LockException e) {
            throw ZooKeeperLockProvider.failed(lockConfiguration, e);
        } finally {
            jobEnded.run();
        }
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
    protected Optional<SimpleLock> doExtend(LockConfiguration extended) {
        long now = System.nanoTime();
        return lease.prolong(bounded(extended.getLockAtMostFor()))
                ? Optional.of(new HeldJobLock(extended, lease, now, jobEnded))
                : Optional.empty();
    }
}
