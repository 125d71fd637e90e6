// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

/**
 * A mutex that processes share and that belongs to no thread: at any time one hold of it is open.
 *
 * <p><b>Fairness:</b> first come, first served, in the order of the server. <b>Re-entrancy:</b> none; a second acquire
 * by the same thread waits like anybody else. <b>Ownership:</b> a hold belongs to the instance: any thread may close the
 * lease or call {@link #release()}, and {@link #isHeldByCurrentThread()} and {@link #holdCount()} answer for the
 * instance, whichever thread asks. <b>Session loss:</b> the lock is lost and free for others; see {@link Lease}.
 *
 * <p>It excludes {@link InterProcessMutex} on the same path. Instances are thread-safe.
 */
public final class InterProcessSemaphoreMutex implements InterProcessLock {
    private final InterProcessLock lock;

    /**
     * Makes a lock on a path; sends nothing.
     *
     * @param client what to work on
     * @param path absolute path of the lock, below the client's chroot; made when first needed
     * @throws IllegalArgumentException if the path is not a valid absolute path
     */
    public InterProcessSemaphoreMutex(ZooKeeperClient client, String path) {
        this(client, path, LockOptions.defaults());
    }

    /**
     * Makes a lock on a path; sends nothing.
     *
     * @param client what to work on
     * @param path absolute path of the lock, below the client's chroot; made when first needed
     * @param options how to behave where there is a choice
     * @throws IllegalArgumentException if the path is not a valid absolute path
     */
    public InterProcessSemaphoreMutex(ZooKeeperClient client, String path, LockOptions options) {
        this.lock = new LockInternals(client, path, new MutexDriver(), options).instanceOwned();
    }

    @Override
    public String path() {
        return lock.path();
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return lock.acquire();
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return lock.tryAcquire();
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        return lock.tryAcquire(timeout);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return lock.acquireAsync();
    }

    @Override
    public void release() {
        lock.release();
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return lock.isHeldByCurrentThread();
    }

    @Override
    public int holdCount() {
        return lock.holdCount();
    }

    @Override
    public boolean isAcquiredInThisProcess() {
        return lock.isAcquiredInThisProcess();
    }

    @Override
    public List<Participant> participants() throws InterruptedException {
        return lock.participants();
    }

    @Override
    public Lock asLock() {
        return lock.asLock();
    }

    @Override
    public String toString() {
        return "InterProcessSemaphoreMutex[" + path() + "]";
    }
}
