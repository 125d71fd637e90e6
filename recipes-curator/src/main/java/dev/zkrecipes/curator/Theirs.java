// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** What Curator's locks have in common, with its exceptions. Each acquire returns what is to be given back for it. */
interface Theirs {

    /** Gives back what one acquire has got. */
    @FunctionalInterface
    interface Held {
        void release() throws Exception;
    }

    Held acquire() throws Exception;

    Optional<Held> tryAcquire(long nanos) throws Exception;

    /** A lock that belongs to a thread. */
    static Theirs lock(InterProcessLock lock) {
        return new Theirs() {
            @Override
            public Held acquire() throws Exception {
                lock.acquire();
                return lock::release;
            }

            @Override
            public Optional<Held> tryAcquire(long nanos) throws Exception {
                return lock.acquire(nanos, TimeUnit.NANOSECONDS) ? Optional.of(lock::release) : Optional.empty();
            }

            @Override
            public String toString() {
                return lock.toString();
            }
        };
    }

    /** One permit of a semaphore. */
    static Theirs permit(InterProcessSemaphoreV2 semaphore) {
        return new Theirs() {
            @Override
            public Held acquire() throws Exception {
                return semaphore.acquire()::close;
            }

            @Override
            public Optional<Held> tryAcquire(long nanos) throws Exception {
                Lease lease = semaphore.acquire(nanos, TimeUnit.NANOSECONDS); // null if there is none
                return Optional.ofNullable(lease).map(granted -> granted::close);
            }

            @Override
            public String toString() {
                return semaphore.toString();
            }
        };
    }
}
