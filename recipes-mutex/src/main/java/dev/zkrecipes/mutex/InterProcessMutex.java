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
 * A re-entrant mutex that processes share: at any time, at most one thread of one process holds it.
 *
 * <pre>{@code
 * InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders");
 * try (Lease lease = mutex.acquire()) {
 *     storage.write(order, lease.fencingToken());
 * }
 * }</pre>
 *
 * <p><b>Fairness:</b> first come, first served, in the order in which ZooKeeper numbers the requests
 * ({@code HandoffMutex} of {@code recipes-handoff} trades some of that order for speed). <b>Re-entrancy:</b> the
 * holding thread acquires again at once; the lock is free when its last hold is released. <b>Ownership:</b> a hold
 * belongs to its thread. <b>Session loss:</b> the lock is lost and free for others; see {@link Lease}.
 *
 * <p>Its nodes have the names and the order of Apache Curator 5.x, so mutexes of both libraries exclude each other on
 * one path. Instances are thread-safe. A thread that holds the lock holds it through every instance on the same path
 * and client.
 */
public final class InterProcessMutex extends DelegatingLock {
    private final InterProcessLock lock;

    /**
     * Creates a lock on a path. Sends nothing.
     *
     * @param client the client to use
     * @param path absolute path of the lock, below the client's chroot; created on first use
     * @throws IllegalArgumentException if the path is not a valid absolute path
     */
    public InterProcessMutex(ZooKeeperClient client, String path) {
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
    public InterProcessMutex(ZooKeeperClient client, String path, LockOptions options) {
        this.lock = new LockInternals(client, path, new MutexDriver(), options).threadOwned();
    }

    @Override
    protected InterProcessLock delegate() {
        return lock;
    }

    @Override
    public String toString() {
        return "InterProcessMutex[" + delegate() + "]";
    }
}
