// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.spi.LockGroups;
import java.util.Objects;
import org.apache.curator.framework.CuratorFramework;

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
     * <p>Holds, re-entrancy and ownership are those of the lock. As with Curator, {@code release} does not report a lost
     * lock, a time-out of zero or less tries once, and {@code acquire(-1, null)} waits for as long as it takes. Errors are
     * those that callers of Curator know: {@code KeeperException.ConnectionLossException} if there is no connection, {@code
     * KeeperException.NoAuthException} if ZooKeeper refuses, {@code IllegalStateException} if the client is closed, {@code
     * IllegalMonitorStateException} if the lock is not held; all but the last have ours as their cause. All others are ours, which are
     * unchecked. Better than with Curator, {@code acquire} by a thread that has lost the lock throws {@link
     * dev.zkrecipes.core.LockLostException} until it has released it, and {@code isAcquiredInThisProcess} is false then.
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
     *         curator, "/locks/stock", new org.apache.curator.framework.recipes.locks.InterProcessMutex(curator, "/locks/stock"));
     * InterProcessMultiLock both = new InterProcessMultiLock(List.of(theirs, new InterProcessMutex(client, "/locks/orders")));
     * }</pre>
     *
     * <p>It is held by threads and re-entrant, whatever Curator's is. The framework's connection decides the state of its
     * leases: SUSPENDED, HELD again after {@code RECONNECTED}, LOST for good after {@code LOST} or when the framework is
     * closed. If the session changes
     * during an acquire, the lock is given back and acquired again. Curator provides no more, so there are no fencing tokens,
     * guards or participants; see {@link LockGroups#foreign}. Curator's mutexes can be released by their own thread only,
     * so closing the lease of a dead thread throws {@link dev.zkrecipes.core.LockException}. Time-outs are Curator's: its retries come on top.
     *
     * @param framework what the lock was made with
     * @param path the path of the lock, for messages
     * @param lock a lock of Curator's that nobody else uses; it belongs to the thread that acquires it, or to nobody
     * @return a new lock, with holds of its own
     */
    public static InterProcessLock ofCurator(
            CuratorFramework framework, String path, org.apache.curator.framework.recipes.locks.InterProcessLock lock) {
        return LockGroups.foreign(new CuratorLock(
                Objects.requireNonNull(framework, "framework"),
                Objects.requireNonNull(path, "path"),
                Objects.requireNonNull(lock, "lock")));
    }
}
