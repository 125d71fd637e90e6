// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.internal.lock.EngineLock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

/**
 * A lock that delegates every call to a lock created by {@link LockInternals} or {@link LockGroups}. Recipes extend it
 * so that they need not repeat the calls, and so that {@link LockGroups#together} finds the engine's lock behind them.
 */
public abstract class DelegatingLock implements InterProcessLock {
    static {
        EngineLock.unwrapBy(lock -> lock instanceof DelegatingLock outer ? outer.delegate() : lock);
    }

    /** Creates the lock of a recipe. */
    protected DelegatingLock() {}

    @Override
    public String path() {
        return delegate().path();
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return delegate().acquire();
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return delegate().tryAcquire();
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        return delegate().tryAcquire(timeout);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return delegate().acquireAsync();
    }

    @Override
    public void release() {
        delegate().release();
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return delegate().isHeldByCurrentThread();
    }

    @Override
    public int holdCount() {
        return delegate().holdCount();
    }

    @Override
    public boolean isAcquiredInThisProcess() {
        return delegate().isAcquiredInThisProcess();
    }

    @Override
    public List<Participant> participants() throws InterruptedException {
        return delegate().participants();
    }

    @Override
    public Lock asLock() {
        return delegate().asLock();
    }

    /**
     * {@return the lock that does the work, the same one at every call} Holds acquired through it and through this lock
     * are the same holds.
     */
    protected abstract InterProcessLock delegate();
}
