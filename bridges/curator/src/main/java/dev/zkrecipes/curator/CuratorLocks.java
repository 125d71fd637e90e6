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

/**
 * Presents locks of this library as Curator locks and the other way round, and creates our locks on the connection of a
 * framework.
 */
public final class CuratorLocks {
    private CuratorLocks() {}

    /**
     * Creates a mutex of this library in place of Curator's {@code new InterProcessMutex(framework, path)}. It uses the
     * framework's {@linkplain CuratorClients#shared shared client}, and stands in one queue with Curator's mutexes on
     * the path. A thread may re-enter through any of our mutexes on the path; Curator's mutexes are re-entrant only
     * through the same object.
     *
     * @param framework a started framework, not a view returned by {@code usingNamespace}
     * @param path the path of the lock, in the framework's namespace
     * @return a new lock, see {@link #asCurator}
     */
    public static org.apache.curator.framework.recipes.locks.InterProcessLock mutex(
            CuratorFramework framework, String path) {
        Objects.requireNonNull(path, "path");
        return asCurator(new InterProcessMutex(CuratorClients.shared(framework), path));
    }

    /**
     * Creates a lock in place of Curator's {@code InterProcessSemaphoreMutex}, as {@link #mutex} does for its mutex. It
     * is not re-entrant, and any thread may release it. Use another path than Curator's, because Curator's lock does
     * not notice ours.
     *
     * @param framework a started framework, not a view returned by {@code usingNamespace}
     * @param path the path of the lock, in the framework's namespace
     * @return a new lock, see {@link #asCurator}
     */
    public static org.apache.curator.framework.recipes.locks.InterProcessLock semaphoreMutex(
            CuratorFramework framework, String path) {
        Objects.requireNonNull(path, "path");
        return asCurator(new dev.zkrecipes.mutex.InterProcessSemaphoreMutex(CuratorClients.shared(framework), path));
    }

    /**
     * Creates a lock in place of Curator's {@code InterProcessReadWriteLock}, as {@link #mutex} does for its mutex.
     *
     * @param framework a started framework, not a view returned by {@code usingNamespace}
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
     * @param writeLock held by one writer, which may also acquire the read lock
     */
    public record ReadWriteLock(
            org.apache.curator.framework.recipes.locks.InterProcessLock readLock,
            org.apache.curator.framework.recipes.locks.InterProcessLock writeLock) {
        /**
         * Creates a pair.
         *
         * @param readLock held by any number of readers
         * @param writeLock held by one writer, which may also acquire the read lock
         */
        public ReadWriteLock {
            Objects.requireNonNull(readLock, "readLock");
            Objects.requireNonNull(writeLock, "writeLock");
        }
    }

    /**
     * Creates a lock in place of Curator's {@code new InterProcessMultiLock(framework, paths)}, as {@link #mutex} does
     * for its mutex. Use it only once no process uses Curator's multi-lock on several of the paths any more, because
     * our multi-lock and Curator's may deadlock.
     *
     * @param framework a started framework, not a view returned by {@code usingNamespace}
     * @param paths the paths of the locks, in the framework's namespace
     * @return a new lock, see {@link #asCurator}
     */
    public static org.apache.curator.framework.recipes.locks.InterProcessLock multiLock(
            CuratorFramework framework, List<String> paths) {
        Objects.requireNonNull(paths, "paths");
        return asCurator(new InterProcessMultiLock(CuratorClients.shared(framework), paths));
    }

    /**
     * Presents a lock of this library to code that is written against Curator's interface:
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
     *
     * <p>Callers get the exceptions that they know from Curator: {@code KeeperException.ConnectionLossException} if
     * there is no connection, {@code KeeperException.NoAuthException} if ZooKeeper denies access, {@code
     * IllegalStateException} if the client is closed, {@code IllegalMonitorStateException} if the lock is not held. All
     * but the last have an exception of this library as their cause. All other failures are thrown as the unchecked
     * exceptions of this library.
     *
     * <p>Unlike with Curator, a thread that has lost the lock cannot acquire it again before it has released it: until
     * then, {@code acquire} throws {@link dev.zkrecipes.core.LockLostException} and {@code isAcquiredInThisProcess}
     * returns false.
     *
     * @param lock any lock of this library
     * @return a view of it
     */
    public static org.apache.curator.framework.recipes.locks.InterProcessLock asCurator(InterProcessLock lock) {
        return new LockForCurator(Objects.requireNonNull(lock, "lock"));
    }

    /**
     * Presents a Curator lock as a lock of this library, mainly to make it a member of a multi-lock:
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
     * <p>The lock is owned by threads and re-entrant, whatever Curator's lock is. The state of its leases follows the
     * framework's connection: SUSPENDED without a connection, HELD again after {@code RECONNECTED}, LOST for good when
     * the session has ended or the framework is closed. A thread that has lost a lock cannot acquire another one on
     * that path until it has closed its lease. If the session changes during an acquire, the lock is released and
     * acquired again.
     *
     * <p>Curator provides no more, so there are no fencing tokens, guards or participants; see {@link
     * LockGroups#foreign}. Only the thread that acquired a Curator mutex can release it, so closing the lease of a dead
     * thread throws {@link dev.zkrecipes.core.LockException}. In a multi-lock whose time is over, a Curator mutex stays
     * held until that thread closes the lease; a permit, see below, is released in time. Time-outs are passed on to
     * Curator, whose retries may take additional time.
     *
     * @param framework the framework that the lock was created with; the framework itself, if the lock was created with
     *     a view of it
     * @param path the path of the lock, the same for both sides of a read-write lock
     * @param lock a Curator lock that is owned by the thread that acquires it, and that no other code uses
     * @return a new lock, with holds of its own
     * @throws IllegalArgumentException if the lock is an {@code InterProcessSemaphoreMutex}, which does not record its
     *     owner; or if the framework is a view returned by {@code usingNamespace}
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
     * Presents a permit of a Curator semaphore as a lock of this library, as {@link #ofCurator(CuratorFramework,
     * String, org.apache.curator.framework.recipes.locks.InterProcessLock)} does for a lock. A semaphore of one permit
     * takes the place of Curator's {@code InterProcessSemaphoreMutex}. Any thread may close the lease of a dead thread.
     *
     * <p>If the connection is lost or the thread is interrupted at the moment of a grant, Curator may leave a permit
     * taken until the framework's session ends.
     *
     * @param framework the framework that the semaphore was created with; the framework itself, if the semaphore was
     *     created with a view of it
     * @param path the path of the semaphore
     * @param semaphore a Curator semaphore; other code may use it, too
     * @return a new lock, with holds of its own; each takes one permit
     * @throws IllegalArgumentException if the framework is a view returned by {@code usingNamespace}
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
