// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.DelegatingLock;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;

/**
 * A mutex that processes share and that belongs to no thread: at any time, at most one hold of it is open.
 *
 * <p><b>Fairness:</b> first come, first served, in the order in which ZooKeeper numbers the requests.
 * <b>Re-entrancy:</b> none; a second acquire by the same thread waits like any other. <b>Ownership:</b> a hold belongs
 * to the instance: any thread may close the lease or call {@link #release()}, and {@link #isHeldByCurrentThread()} and
 * {@link #holdCount()} describe the instance, whichever thread calls them. <b>Session loss:</b> the lock is lost and
 * free for others; see {@link Lease}.
 *
 * <p>It excludes {@link InterProcessMutex} on the same path, and Apache Curator's {@code InterProcessMutex}. A thread
 * that holds the path through an {@code InterProcessMutex} of the same client is refused, as it would wait for itself;
 * {@link #tryAcquire()} finds the lock busy. The lock refuses a path that Curator's {@code InterProcessSemaphoreMutex}
 * uses, which keeps its nodes in folders below the path. Instances are thread-safe.
 */
public final class InterProcessSemaphoreMutex extends DelegatingLock {
    private final InterProcessLock lock;

    /**
     * Creates a lock on a path. Sends nothing.
     *
     * @param client the client to use
     * @param path absolute path of the lock, below the client's chroot; created on first use
     * @throws IllegalArgumentException if the path is not a valid absolute path
     */
    public InterProcessSemaphoreMutex(ZooKeeperClient client, String path) {
        this(client, path, LockOptions.defaults());
    }

    /**
     * Creates a lock on a path. Sends nothing.
     *
     * @param client the client to use
     * @param path absolute path of the lock, below the client's chroot; created on first use
     * @param options optional settings
     * @throws IllegalArgumentException if the path is not a valid absolute path
     */
    public InterProcessSemaphoreMutex(ZooKeeperClient client, String path, LockOptions options) {
        this.lock = new LockInternals(client, path, new MutexDriver(), options).instanceOwned();
    }

    @Override
    protected InterProcessLock delegate() {
        return lock;
    }

    @Override
    public String toString() {
        return "InterProcessSemaphoreMutex[" + delegate() + "]";
    }
}
