// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/**
 * What Curator's locks have in common. A request, when it is called, returns what gives back what it has got; both
 * throw what Curator throws.
 */
interface Theirs {

    /** A request that waits for as long as it takes. */
    Callable<Optional<Callable<Boolean>>> request();

    /** A request that waits for a time, and returns nothing if that was not enough. */
    Callable<Optional<Callable<Boolean>>> request(long nanos);

    /** A lock that belongs to a thread. */
    static Theirs lock(InterProcessLock lock) {
        Callable<Boolean> release = () -> {
            lock.release();
            return true;
        };
        return new Theirs() {
            @Override
            public Callable<Optional<Callable<Boolean>>> request() {
                return () -> {
                    lock.acquire();
                    return Optional.of(release);
                };
            }

            @Override
            public Callable<Optional<Callable<Boolean>>> request(long nanos) {
                return () -> lock.acquire(nanos, TimeUnit.NANOSECONDS) ? Optional.of(release) : Optional.empty();
            }

            @Override
            public String toString() {
                return lock.toString();
            }
        };
    }

    /** One permit of a semaphore, whichever is free. */
    static Theirs permit(InterProcessSemaphoreV2 semaphore) {
        return new Theirs() {
            @Override
            public Callable<Optional<Callable<Boolean>>> request() {
                return () -> Optional.of(closing(semaphore.acquire()));
            }

            @Override
            public Callable<Optional<Callable<Boolean>>> request(long nanos) {
                return () -> Optional.ofNullable(semaphore.acquire(nanos, TimeUnit.NANOSECONDS)) // null if busy
                        .map(Theirs::closing);
            }

            @Override
            public String toString() {
                return semaphore.toString();
            }
        };
    }

    private static Callable<Boolean> closing(Lease lease) {
        return () -> {
            lease.close();
            return true;
        };
    }
}
