// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;

/**
 * One hold of a lock. Close it to release it:
 *
 * <pre>{@code
 * try (Lease lease = mutex.acquire()) {
 *     storage.write(order, lease.fencingToken());
 * }
 * }</pre>
 *
 * <p><b>What a lease can and cannot promise.</b> A process may be paused at any moment, and ZooKeeper gives its lock to
 * another client when its session has been silent for too long. {@link #isValid()} and {@link #state()} tell what is
 * known when they are called. They cannot see a pause between the call and what you do next, a machine that was
 * suspended, or clocks of wildly different rates. Where a late write would do harm, let the store refuse it: pass it
 * {@link #fencingToken()}, or, if the store is ZooKeeper, put {@link #guard()} into the {@code multi} that writes.
 *
 * <p>Instances are thread-safe. See {@link InterProcessLock} for who may close a lease. The lease of several locks as
 * one is a {@link MultiLease}.
 */
public interface Lease extends AutoCloseable {

    /** {@return the path of the lock, see {@link InterProcessLock#path()}} */
    String path();

    /**
     * A number for the store to check: greater than that of every earlier holder that this one conflicts with, and the
     * same for all re-entrant holds. A store that remembers the greatest token it has seen and refuses smaller ones is
     * safe from late writers. It is the node's creation transaction id (czxid) times 2048, plus
     * the number of the hand-over if the lock was passed on inside the process.
     *
     * <p>Tokens rise as long as the ensemble keeps its data. When it has lost data or was restored from an older
     * snapshot, they may begin below the old ones, of which a WARN is logged. So let the store compare an epoch first,
     * which you raise after a restore, or use new lock paths then.
     *
     * @return a positive number
     * @throws LockLostException if the lease is lost
     * @throws IllegalMonitorStateException if the lease is closed
     * @throws UnsupportedOperationException if the lock is of another library
     */
    long fencingToken();

    /** {@return what is known about this lease now, without asking a server} */
    LeaseState state();

    /**
     * {@return whether the state is {@link LeaseState#HELD}: committed writes of this session prove that the ensemble
     * still has the session, that proof has not run out by the local clock, and the connection has stood since} Decided
     * locally, without asking the server.
     */
    boolean isValid();

    /**
     * Asks ZooKeeper, with a committed check, whether the lock is still held, and returns normally if so. Waits at most
     * for the request time-out.
     *
     * @throws LockLostException if the lease is lost; and the other errors of {@link #fencingToken}
     * @throws LockConnectionException if no answer came in time: the outcome is unknown
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    void verify() throws InterruptedException;

    /**
     * Replaces what is left of the time of {@link LockOptions#withHoldAtMost} by {@code most} from now on, which may be
     * less. For a holder that works for longer than expected and wants to be stopped only if it hangs: it calls this
     * from time to time. Decided locally, without asking the server; any thread may call it.
     *
     * <p>All re-entrant holds stand on the same grant and have its time, whichever of them is prolonged. A grant of the
     * other mode, after a downgrade, has a time of its own. For a lease of several locks it is set for each. If
     * there was no limit, nothing changes.
     *
     * @param most how long, from 1 millisecond to 36500 days
     * @return whether the lease stands; false if it is lost, as it is from the moment its time was over, or closed
     * @throws IllegalArgumentException if the time is out of these bounds
     */
    boolean prolong(Duration most);

    /**
     * An operation for your own {@code multi} on the same ensemble and chroot. The {@code multi} is applied only
     * if the lock is held at that moment, and fails as a whole with {@code NoNode} otherwise. Of a lock that is passed
     * on inside the process ({@code recipes-handoff}) a later holder in the same process counts, too.
     *
     * @return a check of this lease's node, whose name is unique
     * @throws LockLostException if the lease is lost; and the other errors of {@link #fencingToken}
     */
    Op guard();

    /**
     * Runs {@code listener} once if the lease becomes LOST before it is closed; at once if it is lost already. It runs
     * on a thread that the client keeps for losses, so blocked callbacks do not delay it; it may itself block. The
     * listener is kept until the lease ends.
     *
     * @param listener what to run
     */
    void onLost(Runnable listener);

    /**
     * Runs {@code listener} on the client's callback executor once for every request to give the lock back, made with
     * {@link Revoker} or with Apache Curator's; at once for earlier ones, including those that came while this hold was
     * still waiting for its turn. Requests that come while the connection is lost are reported on the next one.
     *
     * <p>A request changes nothing else: the lease stays as it is, and the application closes it, or not. A
     * request with a grace period breaks the lease when that is over. All re-entrant holds that have listeners are
     * told. The listener cannot close a hold that belongs to a thread, as it runs on another one.
     *
     * <p>With its first listener a hold reads and watches its node, one request for each of its nodes; without one
     * it costs nothing. While it listens, it learns at once if somebody else deletes its node. The listener does not
     * run for a lease that is closed or lost, even if it ends between the request and the call.
     *
     * @param listener what to call
     */
    void onRevocationRequested(Consumer<RevocationRequest> listener);

    /**
     * The lease's end: {@link LeaseState#RELEASED} or {@link LeaseState#LOST}. Every call returns the same stage, which
     * no caller can complete or cancel. What is attached to it stays until the lease ends, and so does each
     * {@link CompletionStage#toCompletableFuture}; {@link CompletionStage#applyToEither} takes itself away when the
     * other stage has ended first.
     *
     * @return the stage, completed on the client's callback executor, or on a thread for losses with
     *     {@link LeaseState#LOST}. A multi-lock of several clients uses those of the first one
     */
    CompletionStage<LeaseState> ended();

    /**
     * Releases this hold, once; further calls do nothing. With the last hold the lock is released: waits for
     * ZooKeeper's confirmation, at most for the request time-out and only while connected, or not at all if the lock
     * {@linkplain LockOptions#withReleaseInBackground releases in the background}; the deletion continues in the
     * background until it is confirmed. Works with the interrupt flag set and keeps it. A lost lease is closed
     * silently.
     *
     * @throws LockAccessException if ZooKeeper refuses to delete the node, which the error names. The hold is released
     *     all the same, but others stay locked out until the session ends, another client deletes the node, or this
     *     client gets the right to, as it keeps trying
     * @throws IllegalMonitorStateException if the hold belongs to another thread that is alive
     */
    @Override
    void close();

    /**
     * As {@link #close()}, without waiting. Further calls return the state of the same release.
     *
     * @return completes when this hold is released and, if it was the last one, ZooKeeper has confirmed that the node
     *     is gone or its session is; exceptionally with {@link LockAccessException} if ZooKeeper refuses to delete it.
     *     Every call returns a future of its own: to complete or cancel it changes nothing else
     * @throws IllegalMonitorStateException if the hold belongs to another thread that is alive
     */
    CompletableFuture<Void> closeAsync();

    /**
     * Releases this hold when {@code delay} has passed, by the client's own timer: no thread waits. For a lock that is
     * to be kept for a minimum time, although the work under it has ended.
     *
     * <p>Until then the lease stays as it is, and from now on any thread may close it, which ends the wait. So does a
     * loss; a loss also closes the lease. Of several calls, the one whose time is over first counts. The time of
     * {@link LockOptions#withHoldAtMost} goes on: call {@link #prolong} first if it might be over sooner. When the
     * client is closed, the lock is given back at once.
     *
     * <p>A hold that belongs to a thread still counts for that thread: it may re-enter meanwhile, and if it does, the
     * lock is released with the last of its holds. Use {@link InterProcessLock#acquireAsync} for a time that also holds
     * for the thread itself.
     *
     * @param delay how long from now on, up to 36500 days; zero closes it now
     * @return what {@link #closeAsync()} returns
     * @throws IllegalArgumentException if {@code delay} is out of these bounds
     * @throws IllegalMonitorStateException if the hold belongs to another thread that is alive
     * @throws UnsupportedOperationException if the lock is of another library or of several clients, whose leases
     *     belong to the thread that acquires them
     */
    CompletableFuture<Void> closeAfter(Duration delay);
}
