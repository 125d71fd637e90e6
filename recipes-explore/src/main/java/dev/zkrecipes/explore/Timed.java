// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import java.time.Duration;
import java.util.Optional;

/** Calls that must end in time, and that say that a lock is busy only if it is. */
final class Timed {
    private static final Duration SLACK = Duration.ofMillis(50);
    /** How long a server may show what is no longer so. */
    static final Duration MOST_BEHIND = Schedule.SESSION.multipliedBy(4).dividedBy(3);

    private Timed() {}

    static Optional<Lease> tryAcquire(Schedule schedule, Actor actor, InterProcessLock lock) {
        long begin = schedule.simulation().now();
        try {
            Optional<Lease> lease = lock.tryAcquire();
            if (lease.isEmpty() && !schedule.wasBusySince(begin - MOST_BEHIND.toNanos())) {
                schedule.judge()
                        .accuse("a request is not turned away", actor.name() + " was told that a free lock is busy");
            }
            return lease;
        } finally {
            requireInTime(schedule, actor, begin, Schedule.SESSION.dividedBy(3));
        }
    }

    static Optional<Lease> tryAcquire(Schedule schedule, Actor actor, InterProcessLock lock, Duration limit)
            throws InterruptedException {
        long begin = schedule.simulation().now();
        try {
            return lock.tryAcquire(limit);
        } finally {
            requireInTime(schedule, actor, begin, limit.isZero() ? Schedule.SESSION.dividedBy(3) : limit);
        }
    }

    /** A call that has as long as an answer from the server may take. */
    static <T> T request(Schedule schedule, Actor actor, Call<T> call) throws InterruptedException {
        long begin = schedule.simulation().now();
        try {
            return call.make();
        } finally {
            requireInTime(schedule, actor, begin, Schedule.SESSION.dividedBy(3));
        }
    }

    /** A call that blocks. */
    @FunctionalInterface
    interface Call<T> {
        T make() throws InterruptedException;
    }

    private static void requireInTime(Schedule schedule, Actor actor, long begin, Duration limit) {
        Duration took = Duration.ofNanos(schedule.simulation().now() - begin);
        if (took.compareTo(limit.plus(SLACK)) > 0 && !actor.scheduler().wasPausedSince(begin)) {
            schedule.judge()
                    .accuse(
                            "a call ends in time",
                            actor.name() + " got its answer after " + took.toMillis() + " ms of " + limit.toMillis());
        }
    }
}
