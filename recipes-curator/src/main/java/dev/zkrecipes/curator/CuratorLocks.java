// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.spi.LockGroups;
import java.util.Objects;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;

/** Locks of one library behind the interface of the other. */
public final class CuratorLocks {
    private CuratorLocks() {}

    /**
     * A lock of ours for code that is written against Curator's interface:
     *
     * <pre>{@code
     * InterProcessLock lock = CuratorLocks.asCurator(new InterProcessMutex(client, "/locks/orders"));
     * if (lock.acquire(2, TimeUnit.SECONDS)) {
     *     try {
     *         work();
     *     } finally {
     *         lock.release();
     *     }
     * }
     * }</pre>
     *
     * <p>Holds, re-entrancy and ownership are those of the lock. As with Curator, {@code release} does not report a
     * lost lock, a time-out of zero or less tries once, and {@code acquire(-1, null)} waits for as long as it takes.
     * Errors are those that callers of Curator know: {@code KeeperException.ConnectionLossException} if there is no
     * connection, {@code KeeperException.NoAuthException} if ZooKeeper refuses, {@code IllegalStateException} if the
     * client is closed, {@code IllegalMonitorStateException} if the lock is not held; all but the last have ours as
     * their cause. All others are ours, which are unchecked. Better than with Curator, {@code acquire} by a thread that
     * has lost the lock throws {@link dev.zkrecipes.core.LockLostException} until it has released it, and
     * {@code isAcquiredInThisProcess} is false then.
     *
     * @param lock any lock of ours
     * @return a view of it
     */
    public static org.apache.curator.framework.recipes.locks.InterProcessLock asCurator(InterProcessLock lock) {
        return new LockForCurator(Objects.requireNonNull(lock, "lock"));
    }

    /**
     * A lock of Curator's as one of ours, above all as a member of a multi-lock:
     *
     * <pre>{@code
     * InterProcessLock theirs = CuratorLocks.ofCurator(
     *         curator,
     *         "/locks/stock",
     *         new org.apache.curator.framework.recipes.locks.InterProcessMutex(curator, "/locks/stock"));
     * InterProcessMultiLock both =
     *         new InterProcessMultiLock(List.of(theirs, new InterProcessMutex(client, "/locks/orders")));
     * }</pre>
     *
     * <p>It is held by threads and re-entrant, whatever Curator's is. The framework's connection decides the state of
     * its leases: SUSPENDED without one, HELD again after {@code RECONNECTED}, LOST for good when the session has ended
     * or the framework is closed. A thread that has lost a lock acquires no other one on that path before it has closed
     * its lease. If the session changes during an acquire, the lock is given back and acquired again. Curator provides
     * no more, so there are no fencing tokens, guards or participants; see {@link LockGroups#foreign}. Curator's
     * mutexes can be released by their own thread only, so closing the lease of a dead thread throws
     * {@link dev.zkrecipes.core.LockException}. Time-outs are Curator's: its retries come on top.
     *
     * @param framework what the lock was made with, or of which that is a view
     * @param path the path of the lock, the same for both sides of a read-write lock
     * @param lock a lock of Curator's that nobody else uses and that belongs to the thread that acquires it
     * @return a new lock, with holds of its own
     * @throws IllegalArgumentException if the lock is an {@code InterProcessSemaphoreMutex}, which forgets whose it is;
     *     or if the framework is a view that {@code usingNamespace} returned
     */
    public static InterProcessLock ofCurator(
            CuratorFramework framework, String path, org.apache.curator.framework.recipes.locks.InterProcessLock lock) {
        if (lock instanceof InterProcessSemaphoreMutex) {
            throw new IllegalArgumentException("Curator's lock " + path + " is an InterProcessSemaphoreMutex, which"
                    + " releases whatever was acquired last, even if another thread has it: give"
                    + " new InterProcessSemaphoreV2(framework, path, 1), which stands on the same nodes");
        }
        return ofCurator(framework, path, Theirs.lock(Objects.requireNonNull(lock, "lock")));
    }

    /**
     * A permit of Curator's semaphore as a lock of ours, like {@link #ofCurator(CuratorFramework, String,
     * org.apache.curator.framework.recipes.locks.InterProcessLock)}. With one permit in all it is what Curator's {@code
     * InterProcessSemaphoreMutex} is. Any thread may close the lease of a dead one.
     *
     * <p>If the connection is lost in the moment of a grant, Curator may leave a permit taken until the framework's
     * session ends.
     *
     * @param framework what the semaphore was made with, or of which that is a view
     * @param path the path of the semaphore
     * @param semaphore a semaphore of Curator's; others may use it, too
     * @return a new lock, with holds of its own; each takes one permit
     * @throws IllegalArgumentException if the framework is a view that {@code usingNamespace} returned
     */
    public static InterProcessLock ofCurator(
            CuratorFramework framework, String path, InterProcessSemaphoreV2 semaphore) {
        return ofCurator(framework, path, Theirs.permit(Objects.requireNonNull(semaphore, "semaphore")));
    }

    private static InterProcessLock ofCurator(CuratorFramework framework, String path, Theirs lock) {
        Objects.requireNonNull(framework, "framework");
        try {
            Objects.requireNonNull(framework.getCuratorListenable());
        } catch (UnsupportedOperationException e) {
            throw new IllegalArgumentException(
                    "this CuratorFramework is a view in the namespace " + framework.getNamespace()
                            + ", which is not told when the framework is closed: give the framework itself; the lock may"
                            + " be made with the view",
                    e);
        }
        return LockGroups.foreign(new CuratorLock(framework, Objects.requireNonNull(path, "path"), lock));
    }
}
