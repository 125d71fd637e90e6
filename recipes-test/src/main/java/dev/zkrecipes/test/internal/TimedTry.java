// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import com.google.common.base.Throwables;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import java.time.Duration;
import java.util.Optional;

/**
 * A timed acquire that a test expects to end without the lock, because the lock is busy. It waits for 1 s. If ZooKeeper
 * does not answer in that time, it is not known whether the lock is busy, so the acquire rightly fails with a
 * {@link LockConnectionException}. On a machine that stalls for a second, this happens with any lock. So the acquire is
 * repeated, with 5 s and finally with 25 s:
 *
 * <pre>{@code
 * Lease held = others.acquire();
 * assertThat(TimedTry.on(lock)).isEmpty();
 * }</pre>
 *
 * <p>Not for a lock that cannot be reached.
 */
public final class TimedTry {
    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final Duration LAST = Duration.ofSeconds(25);
    private static final int LONGER = 5; // the factor by which each repetition waits longer

    private TimedTry() {}

    /**
     * Tries to acquire a lock.
     *
     * @throws LockConnectionException if ZooKeeper answers none of the attempts
     */
    public static Optional<Lease> on(InterProcessLock lock) throws InterruptedException {
        return of(lock::tryAcquire);
    }

    /**
     * Makes another kind of timed request for a lock.
     *
     * @throws LockConnectionException if ZooKeeper answers none of the attempts
     * @throws AssertionError if the request throws another checked exception, which is the cause
     */
    public static <T> T of(Request<T> request) throws InterruptedException {
        Duration limit = FIRST;
        while (true) {
            try {
                return request.within(limit);
            } catch (Exception e) {
                if (limit.equals(LAST) || !isUnanswered(e)) {
                    Throwables.throwIfInstanceOf(e, InterruptedException.class);
                    Throwables.throwIfUnchecked(e);
                    throw new AssertionError("a request for a lock has failed", e);
                }
            }
            limit = limit.multipliedBy(LONGER);
        }
    }

    private static boolean isUnanswered(Exception e) {
        return Throwables.getCausalChain(e).stream().anyMatch(LockConnectionException.class::isInstance);
    }

    /** A request for a lock that waits for a limited time. */
    @FunctionalInterface
    public interface Request<T> {
        /**
         * Requests the lock, and waits.
         *
         * @throws Exception if the request fails
         */
        T within(Duration limit) throws Exception;
    }
}
