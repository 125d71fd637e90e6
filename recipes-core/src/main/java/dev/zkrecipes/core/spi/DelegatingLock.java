// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.Participant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

/**
 * A lock that hands every call on to one that {@link LockInternals} or {@link LockGroups} made. Recipes implement it,
 * so that they need not repeat the calls, and so that {@link LockGroups#together} finds the engine's lock behind them.
 */
public interface DelegatingLock extends InterProcessLock {

    @Override
    default String path() {
        return delegate().path();
    }

    @Override
    default Lease acquire() throws InterruptedException {
        return delegate().acquire();
    }

    @Override
    default Optional<Lease> tryAcquire() {
        return delegate().tryAcquire();
    }

    @Override
    default Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        return delegate().tryAcquire(timeout);
    }

    @Override
    default CompletableFuture<Lease> acquireAsync() {
        return delegate().acquireAsync();
    }

    @Override
    default void release() {
        delegate().release();
    }

    @Override
    default boolean isHeldByCurrentThread() {
        return delegate().isHeldByCurrentThread();
    }

    @Override
    default int holdCount() {
        return delegate().holdCount();
    }

    @Override
    default boolean isAcquiredInThisProcess() {
        return delegate().isAcquiredInThisProcess();
    }

    @Override
    default List<Participant> participants() throws InterruptedException {
        return delegate().participants();
    }

    @Override
    default Lock asLock() {
        return delegate().asLock();
    }

    /**
     * The lock that does the work, for the engine. Users of the lock do not need it: holds made through it and through
     * this lock are the same holds.
     *
     * @return the same one at every call
     */
    InterProcessLock delegate();
}
