// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.Participant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

/** An opaque lock, like one of another library. */
record Foreign(InterProcessLock behind) implements InterProcessLock {
    @Override
    public String path() {
        return behind.path();
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return behind.acquire();
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return behind.tryAcquire();
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        return behind.tryAcquire(timeout);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return behind.acquireAsync();
    }

    @Override
    public void release() {
        behind.release();
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return behind.isHeldByCurrentThread();
    }

    @Override
    public int holdCount() {
        return behind.holdCount();
    }

    @Override
    public boolean isAcquiredInThisProcess() {
        return behind.isAcquiredInThisProcess();
    }

    @Override
    public List<Participant> participants() throws InterruptedException {
        return behind.participants();
    }

    @Override
    public Lock asLock() {
        return behind.asLock();
    }
}
