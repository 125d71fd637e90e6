// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import java.util.List;
import java.util.Objects;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;

/** Locks of one library behind the interface of the other, and ours for code that makes locks on a framework. */
public final class CuratorLocks {
    private CuratorLocks() {}

    /**
     * What Curator calls {@code new InterProcessMutex(framework, path)}, with ours behind it: on the framework's one
     * client ({@link CuratorClients#shared}), in one queue with Curator's. Re-entrant for a thread through all locks on
     * the path, where Curator's are re-entrant each for itself.
     *
     * @param framework started, and not a view that {@code usingNamespace} returned
     * @param path the path of the lock, in the framework's namespace
     * @return a new lock, see {@link #asCurator}
     */
    public static org.apache.curator.framework.recipes.locks.InterProcessLock mutex(
            CuratorFramework framework, String path) {
        Objects.requireNonNull(path, "path");
        return asCurator(new InterProcessMutex(CuratorClients.shared(framework), path));
    }

    /**
     * As {@link #mutex}, for {@code InterProcessSemaphoreMutex}: not re-entrant, and any thread may release it. On
     * another path than Curator's, which does not notice ours.
     *
     * @param framework started, and not a view that {@code usingNamespace} returned
     * @param path the path of the lock, in the framework's namespace
     * @return a new lock, see {@link #asCurator}
     */
    public static org.apache.curator.framework.recipes.locks.InterProcessLock semaphoreMutex(
            CuratorFramework framework, String path) {
        Objects.requireNonNull(path, "path");
        return asCurator(new dev.zkrecipes.mutex.InterProcessSemaphoreMutex(CuratorClients.shared(framework), path));
    }

    /**
     * As {@link #mutex}, for {@code InterProcessReadWriteLock}.
     *
     * @param framework started, and not a view that {@code usingNamespace} returned
     * @param path the path of the lock, in the framework's namespace
     * @return both sides of a new lock
     */
    public static ReadWriteLock readWriteLock(CuratorFramework framework, String path) {
        Objects.requireNonNull(path, "path");
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(CuratorClients.shared(framework), path);
        return new ReadWriteLock(asCurator(lock.readLock()), asCurator(lock.writeLock()));
    }

    /**
     * Both sides of a read-write lock.
     *
     * @param readLock held by any number of readers
     * @param writeLock held by one writer, who may take the read lock, too
     */
    public record ReadWriteLock(
            org.apache.curator.framework.recipes.locks.InterProcessLock readLock,
            org.apache.curator.framework.recipes.locks.InterProcessLock writeLock) {
        /**
         * Makes a pair.
         *
         * @param readLock held by any number of readers
         * @param writeLock held by one writer, who may take the read lock, too
         */
        public ReadWriteLock {
            Objects.requireNonNull(readLock, "readLock");
            Objects.requireNonNull(writeLock, "writeLock");
        }
    }

    /**
     * As {@link #mutex}, for {@code new InterProcessMultiLock(framework, paths)}; only when no process has Curator's on
     * several of the paths any more, as the two may wait for each other.
     *
     * @param framework started, and not a view that {@code usingNamespace} returned
     * @param paths of the locks, in the framework's namespace
     * @return a new lock, see {@link #asCurator}
     */
    public static org.apache.curator.framework.recipes.locks.InterProcessLock multiLock(
            CuratorFramework framework, List<String> paths) {
        Objects.requireNonNull(paths, "paths");
        return asCurator(new InterProcessMultiLock(CuratorClients.shared(framework), paths));
    }

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
        Objects.requireNonNull(path, "path");
        try {
            Objects.requireNonNull(framework.getCuratorListenable());
        } catch (UnsupportedOperationException e) {
            throw new IllegalArgumentException(
                    "this CuratorFramework is a view in the namespace " + framework.getNamespace()
                            + ", which is not told when the framework is closed: give the framework itself; the lock may"
                            + " be made with the view",
                    e);
        }
        return LockGroups.foreign(new CuratorLock(framework, path, lock));
    }
}
