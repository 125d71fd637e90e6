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
 * somebody asks for the lock back. {@link #tryAcquire()} does not wait, so it fails while anybody holds or waits. With
 * {@link #keepFor} the lock also stays in the process while nobody uses it, until somebody else queues.
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

    private static final Duration SHORTEST_KEEP = Duration.ofMillis(1);
    private static final Duration LONGEST_KEEP = Duration.ofDays(1);

    private final ZooKeeperClient client;
    private final int most;
    private final LockOptions options;
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
        this(client, path, most, Duration.ZERO, options);
    }

    private HandoffMutex(ZooKeeperClient client, String path, int most, Duration keepFor, LockOptions options) {
        this.client = client;
        this.most = most;
        this.options = Objects.requireNonNull(options, "options");
        this.lock = LocalQueue.mutex(client, path, most, keepFor, options);
    }

    /**
     * A mutex that stays where it is used: when nobody in this process holds it or waits for it any more, its node is
     * kept for a while, and an acquire in that time sends nothing. The node is given back as soon as somebody else
     * queues behind it. A process that hangs meanwhile holds up all others until its session ends, although it does
     * not work under the lock; and {@link #tryAcquire()} of others, which does not queue, finds the lock busy. See the
     * guide for the rest of what it costs others.
     *
     * <p>While nobody else is known to queue, {@code most} does not count: the node has up to 2,048 holders. Somebody
     * who comes waits for the present holder, and for those that begin before this process has heard of it.
     *
     * @param atMost how long the node is kept after each release, from 1 millisecond to a day
     * @return another lock on the same path with a queue of its own, to be shared in place of this one
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
