// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.handoff;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.DelegatingLock;
import java.time.Duration;
import java.util.Objects;

/**
 * A re-entrant mutex for many threads of few processes. The threads and asynchronous requests that use one object wait
 * in the local queue of this object, first come, first served, behind one node in ZooKeeper. When a holder releases the
 * lock, the next request in this queue gets it at once, without a request to ZooKeeper, a limited number of times in a
 * row. Then the node is released, and waiters elsewhere get their turn.
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
 * strict order, and at most that many later requests may overtake it. The lock returns to ZooKeeper sooner if the lease
 * is not proven to be held ({@link dev.zkrecipes.core.LeaseState#SUSPENDED}), or if the process has received a request
 * to give the lock back. {@link #tryAcquire()} does not wait, so it fails while anybody holds or waits. With
 * {@link #keepFor} the lock also stays in the process while nobody uses it, until somebody else queues.
 *
 * <p><b>Re-entrancy:</b> the holding thread acquires again at once; the lock passes on when its last hold is released.
 * <b>Ownership:</b> a hold belongs to its thread; a hold acquired by {@link #acquireAsync} belongs to no thread.
 * <b>Session loss:</b> the lease of the holder is lost, as it is when the node is deleted; waiting requests queue
 * again, or fail, as {@link dev.zkrecipes.core.QueueLossPolicy} says.
 *
 * <p><b>Fencing:</b> tokens increase with every hand-over. The node stays the same, however: a {@link Lease#guard()}
 * that an earlier holder in this process obtained before it closed its lease still succeeds while a later one holds the
 * node. It still guards against other processes.
 *
 * <p>Each object has its own queue and is one participant in ZooKeeper's, so share it. It excludes every other mutex on
 * its path, including those of Apache Curator 5.x. A thread that holds the lock holds it through every object with the
 * same client, path and settings. With {@link LockOptions#withHoldAtMost} each holder has the whole time; when it has
 * elapsed, the node is released to ZooKeeper. The lock may be a member of a multi-lock that acquires its members one by
 * one. Instances are thread-safe.
 */
public final class HandoffMutex extends DelegatingLock {
    /** The largest number of hand-overs in a row: a fencing token has room for this number. */
    public static final int MOST_HANDOFFS = LocalQueue.MOST_HANDOFFS;

    private static final Duration SHORTEST_KEEP = Duration.ofMillis(1);
    private static final Duration LONGEST_KEEP = Duration.ofDays(1);

    private final ZooKeeperClient client;
    private final int most;
    private final LockOptions options;
    private final InterProcessLock lock;

    /**
     * Creates a lock on a path. Sends nothing.
     *
     * @param client the client to use
     * @param path absolute path of the lock, below the client's chroot; created on first use
     * @param most how many times in a row it passes on inside the process, from 1 to {@value #MOST_HANDOFFS}
     * @throws IllegalArgumentException if the path is not a valid absolute path, or {@code most} is out of bounds
     */
    public HandoffMutex(ZooKeeperClient client, String path, int most) {
        this(client, path, most, LockOptions.defaults());
    }

    /**
     * Creates a lock on a path. Sends nothing.
     *
     * @param client the client to use
     * @param path absolute path of the lock, below the client's chroot; created on first use
     * @param most how many times in a row it passes on inside the process, from 1 to {@value #MOST_HANDOFFS}
     * @param options optional settings
     * @throws IllegalArgumentException if the path is not a valid absolute path, or {@code most} is out of bounds
     */
    public HandoffMutex(ZooKeeperClient client, String path, int most, LockOptions options) {
        this(client, path, most, Duration.ZERO, options);
    }

    private HandoffMutex(ZooKeeperClient client, String path, int most, Duration keepFor, LockOptions options) {
        this.client = client;
        this.most = most;
        this.options = Objects.requireNonNull(options, "options");
        this.lock = LocalQueue.mutex(client, path, most, keepFor, options);
    }

    /**
     * Returns a mutex that stays where it is used: when nobody in this process holds it or waits for it any more, its
     * node is kept for a while, and an acquire within that time sends nothing. The node is released as soon as somebody
     * else queues behind it. If the process hangs while it keeps the node, it blocks all others until its session ends,
     * although it does not work under the lock. {@link #tryAcquire()} of others, which does not queue, finds the lock
     * busy. The guide describes what else this costs others.
     *
     * <p>While nobody else is known to queue, {@code most} does not apply: the node has up to 2,048 holders. A new
     * waiter elsewhere waits for the present holder, and for those that begin before this process has learned of the
     * waiter.
     *
     * @param atMost how long the node is kept after each release, from 1 millisecond to a day
     * @return another lock on the same path, with its own queue, to be shared in place of this one
     * @throws IllegalArgumentException if the time is out of bounds
     */
    public HandoffMutex keepFor(Duration atMost) {
        Objects.requireNonNull(atMost, "atMost");
        if (atMost.compareTo(SHORTEST_KEEP) < 0 || atMost.compareTo(LONGEST_KEEP) > 0) {
            throw new IllegalArgumentException("to be kept for " + atMost + ": must be from 1 millisecond to a day");
        }
        return new HandoffMutex(client, path(), most, atMost, options);
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
