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
 * The common interface of Curator's locks and semaphores. A request acquires when it is called, and returns a callable
 * that releases what was acquired. Both throw the exceptions that Curator throws.
 */
interface Theirs {

    /** Returns a request that waits for as long as it takes. */
    Callable<Optional<Callable<Boolean>>> request();

    /** Returns a request that waits at most this long, and returns empty if it has acquired nothing by then. */
    Callable<Optional<Callable<Boolean>>> request(long nanos);

    /** Adapts a lock that is owned by the thread that acquires it. */
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

    /** Adapts a semaphore. Each request acquires one permit. */
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
