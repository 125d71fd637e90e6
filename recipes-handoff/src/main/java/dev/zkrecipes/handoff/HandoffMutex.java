// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.handoff;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.DelegatingLock;
import java.util.Objects;

/**
 * A re-entrant mutex for many threads of few processes. Threads and asynchronous requests that want this object wait in
 * a queue of its own, first come, first served, behind one node in ZooKeeper. When a holder releases the lock, the next
 * of them has it at once, without telling ZooKeeper, a limited number of times in a row. Then the node is released and
 * the other waiters get their turn.
 *
 * <pre>{@code
 * HandoffMutex mutex = new HandoffMutex(client, "/locks/orders", 64); // one object for all threads
 * try (Lease lease = mutex.acquire()) {
 *     storage.write(order, lease.fencingToken());
 * }
 * }</pre>
 *
 * <p><b>Fairness:</b> the requests for one object are served in the order in which they came, and objects in the order
 * of their nodes. So for each node in front of it, a request elsewhere waits for up to {@code most} more holds than in
 * strict order, and that many later requests may overtake it, but no more. The lock returns to ZooKeeper sooner if the
 * lease is not proven to be held ({@link dev.zkrecipes.core.LeaseState#SUSPENDED}), or if the process has heard that
 * somebody asks for the lock back. {@link #tryAcquire()} does not wait, so it fails while anybody holds or waits.
 *
 * <p><b>Re-entrancy:</b> the holding thread acquires again at once; the lock passes on with its last hold.
 * <b>Ownership:</b> a hold belongs to its thread; one of {@link #acquireAsync} to nobody. <b>Session loss:</b> the
 * lease of the holder is lost, as when the node is deleted; those that wait queue again, or fail, as {@link
 * dev.zkrecipes.core.QueueLossPolicy} says.
 *
 * <p><b>Fencing:</b> tokens rise with every hand-over. The node stays the same, though: {@link Lease#guard()} of an
 * earlier holder of this process, if it was taken before the lease was closed, still succeeds while a later one holds
 * the node. It still guards against other processes.
 *
 * <p>Each object has a queue of its own, and is one participant of ZooKeeper's: share it. It excludes every other mutex
 * on its path, those of Apache Curator 5.x included. What a thread holds, it holds through every object with the same
 * client, path and settings. With {@link LockOptions#withHoldAtMost} each holder has the whole time; when it is over,
 * the node goes back to ZooKeeper. It may be a member of a multi-lock that acquires its members one by one. Instances
 * are thread-safe.
 */
public final class HandoffMutex extends DelegatingLock {
    /** The largest number of hand-overs in a row: a fencing token has room for that many. */
    public static final int MOST_HANDOFFS = LocalQueue.MOST_HANDOFFS;

    private final InterProcessLock lock;

    /**
     * Makes a lock on a path; sends nothing.
     *
     * @param client the client to use
     * @param path absolute path of the lock, below the client's chroot; created on first use
     * @param most how often in a row it passes on inside the process, from 1 to {@value #MOST_HANDOFFS}
     * @throws IllegalArgumentException if the path is not a valid absolute path, or {@code most} is out of bounds
     */
    public HandoffMutex(ZooKeeperClient client, String path, int most) {
        this(client, path, most, LockOptions.defaults());
    }

    /**
     * Makes a lock on a path; sends nothing.
     *
     * @param client the client to use
     * @param path absolute path of the lock, below the client's chroot; created on first use
     * @param most how often in a row it passes on inside the process, from 1 to {@value #MOST_HANDOFFS}
     * @param options optional settings
     * @throws IllegalArgumentException if the path is not a valid absolute path, or {@code most} is out of bounds
     */
    public HandoffMutex(ZooKeeperClient client, String path, int most, LockOptions options) {
        this.lock = LocalQueue.mutex(client, path, most, Objects.requireNonNull(options, "options"));
    }

    @Override
    protected InterProcessLock delegate() {
        return lock;
    }

    @Override
    public String toString() {
        return "HandoffMutex[" + delegate() + "]";
    }
}
