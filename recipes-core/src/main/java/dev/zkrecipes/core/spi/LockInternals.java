// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.lock.EngineLock;
import dev.zkrecipes.core.internal.lock.JucLock;
import dev.zkrecipes.core.internal.lock.LockModes;
import dev.zkrecipes.core.internal.lock.PathQueries;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.wire.LockPath;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;

/**
 * The engine for one path and one driver: the loop that all recipes share.
 *
 * <ol>
 *   <li><b>Enqueue.</b> Create an EPHEMERAL_SEQUENTIAL node under the path and, without waiting for the reply, list the
 *       children. The server answers one session's requests in order, so an uncontended acquire is one round trip.
 *   <li><b>Decide.</b> Sort the list and hand the {@link LockDriver} the nodes in front of our own. A list without our
 *       own node never reaches the driver: the node is gone, and the request queues again.
 *   <li><b>Wait.</b> Watch exactly the nodes that the driver names, with reads that set a watch on a living node only.
 *       When one is gone, list and decide again.
 *   <li><b>Grant.</b> A reply to our create in this session proves ownership; a node that was found by listing is ours
 *       only if its owner is this session.
 *   <li><b>Leave.</b> Any other ending deletes the node in the background until a server confirms that it is gone.
 * </ol>
 *
 * <p>If the reply to the create is lost, a committed write comes before the list that decides what became of it. If the
 * session ends, the request goes back to the first step in the next one.
 *
 * <p>A recipe makes one of these and hands out what {@link #threadOwned()}, {@link #instanceOwned()} or {@link #unowned()}
 * returns. Locks of two modes come from {@link #modes}, several locks as one from {@link #together}. Instances are
 * thread-safe.
 */
public final class LockInternals {
    private final LockSpec target;

    /**
     * Prepares the engine; sends nothing.
     *
     * @param client what to work on, made by this library
     * @param path absolute path of the lock, below the client's chroot
     * @param driver decides who holds
     * @param options how to behave where there is a choice
     * @throws IllegalArgumentException if the path is not a valid absolute path, the client is of another make, or the
     *     driver's node name is malformed
     */
    public LockInternals(ZooKeeperClient client, String path, LockDriver driver, LockOptions options) {
        Objects.requireNonNull(options, "options");
        this.target = new LockSpec(EngineClient.of(client), LockPath.check(path), driver, options);
    }

    /**
     * A lock that is held by threads and re-entrant for the thread that holds it.
     *
     * @return a new lock with holds of its own
     */
    public InterProcessLock threadOwned() {
        return EngineLock.threadOwned(target.anew());
    }

    /**
     * A lock that is held by the instance: not re-entrant, and any thread may give it back.
     *
     * @return a new lock with holds of its own
     */
    public InterProcessLock instanceOwned() {
        return EngineLock.instanceOwned(target.anew());
    }

    /**
     * A lock of which the instance may hold any number at the same time, as the driver allows: every acquire queues, and
     * its lease, which any thread may close, has nothing to do with the others. {@link InterProcessLock#release} gives
     * back the youngest.
     *
     * @return a new lock with holds of its own
     */
    public InterProcessLock unowned() {
        return EngineLock.unowned(target.anew());
    }

    /**
     * Looks at the queue of the lock and at its rule, by one request, waiting at most for the request time-out.
     *
     * @return what the server showed; empty if the path does not exist
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws dev.zkrecipes.core.LockConnectionException if there is no connection, or no answer in time
     * @throws dev.zkrecipes.core.LockException if ZooKeeper or the driver refuses
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    public LockSnapshot snapshot() throws InterruptedException {
        return new PathQueries(target).snapshot();
    }

    /**
     * Changes the rule of a lock with a {@link SharedRuleDriver}: waiting requests decide again, held locks stay held.
     * Waits at most for the request time-out.
     *
     * @param change makes the new rule of the old one, or of nothing if the lock's node does not exist; called again, with
     *     what is there then, if somebody else changes the rule meanwhile. It runs on the calling thread, its time does not
     *     count against the limit, and what it throws is thrown here
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws dev.zkrecipes.core.LockConnectionException if there is no connection, or no answer in time: it is not known
     *     whether the rule was changed
     * @throws dev.zkrecipes.core.LockException if ZooKeeper refuses
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    public void changeRule(Function<Optional<byte[]>, byte[]> change) throws InterruptedException {
        new PathQueries(target).changeRule(change);
    }

    /**
     * Two modes of one lock, of which a thread may hold both: an exclusive one and a shared one. The thread that holds
     * the exclusive mode gets the shared one at once, at the same place in the queue and with the same token (one
     * {@code multi} that checks the exclusive node and creates the shared one), and keeps it when it gives back the
     * exclusive one. The other way round is refused with {@link dev.zkrecipes.core.LockUpgradeException}: two threads
     * that hold the shared mode would wait for each other for ever.
     *
     * @param client what to work on, made by this library
     * @param path absolute path of the lock, below the client's chroot
     * @param exclusive the driver of the mode that excludes everybody; knows the nodes of both modes
     * @param shared the driver of the other mode; knows the nodes of both modes, and grants beside every node beside which
     *     {@code exclusive} grants
     * @param options how to behave where there is a choice
     * @return new locks, both thread-owned
     * @throws IllegalArgumentException as the constructor
     */
    public static Modes modes(
            ZooKeeperClient client, String path, LockDriver exclusive, LockDriver shared, LockOptions options) {
        LockSpec exclusiveTarget = new LockInternals(client, path, exclusive, options).target;
        LockSpec sharedTarget = new LockInternals(client, path, shared, options).target;
        LockModes modes = new LockModes(exclusiveTarget, sharedTarget);
        return new Modes(EngineLock.mode(exclusiveTarget, modes), EngineLock.mode(sharedTarget, modes));
    }

    /**
     * The two modes of one lock.
     *
     * @param exclusive the mode that excludes everybody
     * @param shared the mode that many may hold together
     */
    public record Modes(InterProcessLock exclusive, InterProcessLock shared) {}

    /**
     * Several locks as one, held by threads and re-entrant as a whole: all members are entered by one {@code multi}, so
     * that any two such requests stand in the same order on every path that they share.
     *
     * <p>A thread that holds all members, together or each by itself, holds them once more at once. A request of which the
     * thread holds some members but not all, or one in another mode or by another lock on the same path, is refused with
     * {@link dev.zkrecipes.core.LockRefusedException}: it could wait for itself.
     *
     * @param members locks made by {@code LockInternals}, or {@link DelegatingLock}s on such; of one client, each on a path
     *     of its own
     * @param options how to behave where there is a choice
     * @return a new lock; its path is the members' paths with commas between them
     * @throws IllegalArgumentException if there are no members or too many, one is not a lock of the engine, two have the
     *     same path, or they are not of one client
     */
    public static InterProcessLock together(List<? extends InterProcessLock> members, LockOptions options) {
        Objects.requireNonNull(options, "options");
        return EngineLock.together(
                members.stream().map(LockInternals::engineLock).toList(), options);
    }

    /**
     * The client that a lock works on, if the lock can be a member of {@link #together}.
     *
     * @param lock any lock
     * @return its client; empty if it is not a lock of the engine, or already several together
     */
    public static Optional<ZooKeeperClient> clientOf(InterProcessLock lock) {
        return unwrap(lock) instanceof EngineLock engine && engine.isSingle()
                ? Optional.of(engine.client())
                : Optional.empty();
    }

    /**
     * Refuses, without asking ZooKeeper, what the calling thread must not wait for, as it would wait for itself: several
     * locks {@link #together} of which it holds some, or one of them another way. For a lock that waits for one of its
     * parts while others are free.
     *
     * @param lock any lock; one that is not of the engine is not refused
     * @throws dev.zkrecipes.core.LockLostException if what the thread holds of it is lost
     * @throws dev.zkrecipes.core.LockRefusedException if the thread would wait for itself
     */
    public static void requireNotHeldInPart(InterProcessLock lock) {
        if (unwrap(lock) instanceof EngineLock engine) {
            engine.requireNotHeldInPart();
        }
    }

    /**
     * {@link InterProcessLock#tryAcquire()}, which takes up to the request time-out when the server does not answer, within a
     * shorter time.
     *
     * @param lock any lock; the limit has no effect on one that is not of the engine
     * @param atMost how long to wait for an answer; the request time-out, if that is shorter
     * @return the lease, or empty if the lock is not free
     * @throws dev.zkrecipes.core.LockConnectionException if that could not be found out in time
     */
    public static Optional<Lease> tryAtOnce(InterProcessLock lock, Duration atMost) {
        if (unwrap(lock) instanceof EngineLock engine) {
            return engine.tryAtOnce(atMost);
        }
        return lock.tryAcquire();
    }

    /**
     * A view for a lock that is not made by {@code LockInternals} and wants to answer {@link InterProcessLock#asLock()}.
     *
     * @param lock any lock
     * @return a view of it, whose {@code lock()} acquires anew after an interruption
     */
    public static Lock asLock(InterProcessLock lock) {
        return JucLock.of(lock);
    }

    private static EngineLock engineLock(InterProcessLock lock) {
        if (unwrap(lock) instanceof EngineLock engine) {
            return engine;
        }
        throw new IllegalArgumentException("not a lock of this engine: " + lock);
    }

    private static InterProcessLock unwrap(InterProcessLock lock) {
        InterProcessLock found = Objects.requireNonNull(lock, "lock");
        while (found instanceof DelegatingLock delegating) {
            found = delegating.delegate();
        }
        return found;
    }
}
