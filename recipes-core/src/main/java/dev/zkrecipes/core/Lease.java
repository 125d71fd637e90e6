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
 * another client when its session has been silent for too long. {@link #isValid()} and {@link #state()} return what is
 * known when they are called. They cannot see a pause between the call and what you do next, a machine that was
 * suspended, or clocks of wildly different rates. Where a late write would do harm, let the store refuse it: pass it
 * {@link #fencingToken()}, or, if the store is ZooKeeper, put {@link #guard()} into the {@code multi} that writes.
 *
 * <p>Instances are thread-safe. See {@link InterProcessLock} for who may close a lease. The lease of a multi-lock is a
 * {@link MultiLease}.
 */
public interface Lease extends AutoCloseable {

    /** {@return the path of the lock, see {@link InterProcessLock#path()}} */
    String path();

    /**
     * Returns a number for the store to check: it is greater than that of every earlier holder with which this one
     * conflicts, and the same for all re-entrant holds. A store that remembers the greatest token it has seen and
     * refuses smaller ones is safe from late writers. The token is the node's creation transaction id (czxid) times
     * 2048, plus the number of the hand-over if the lock was handed over inside the process.
     *
     * <p>Tokens rise as long as the ensemble keeps its data. When it has lost data or was restored from an older
     * snapshot, they may begin below the old ones, and a warning is logged. So let the store first compare an epoch,
     * which you raise after a restore, or use new lock paths after a restore.
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
     * still has the session, that proof has not expired by the local clock, and the connection has not been lost since}
     * Decided locally, without asking the server.
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
     * Replaces the remaining time of {@link LockOptions#withHoldAtMost} by {@code most} from now on, which may be less.
     * Intended for a holder that works for longer than expected and wants to lose the lock only if it hangs: it calls
     * this method from time to time. Decided locally, without asking the server. May be called from any thread.
     *
     * <p>All re-entrant holds share the same grant and its time limit, whichever of them is prolonged. A grant of the
     * other mode, after a downgrade, has a time limit of its own. For a lease of several locks the limit is set for
     * each of them. If there was no limit, nothing changes.
     *
     * @param most how long, from 1 millisecond to 36500 days
     * @return whether the lease is still open; false if it is closed or lost, as it is from the moment its time has
     *     elapsed
     * @throws IllegalArgumentException if the time is out of these bounds
     */
    boolean prolong(Duration most);

    /**
     * Returns an operation for your own {@code multi} on the same ensemble and chroot. The {@code multi} is applied
     * only if the lock is held at that moment, and fails as a whole with {@code NoNode} otherwise. If the lock is
     * handed over inside the process ({@code recipes-handoff}), a later holder in the same process counts, too.
     *
     * @return a check of this lease's node, whose name is unique
     * @throws LockLostException if the lease is lost; and the other errors of {@link #fencingToken}
     */
    Op guard();

    /**
     * Runs {@code listener} once if the lease becomes LOST before it is closed; at once if it is lost already. It runs
     * on a thread that the client keeps for losses, so blocked callbacks do not delay it. The listener may block. The
     * listener is kept until the lease ends.
     *
     * @param listener what to run
     */
    void onLost(Runnable listener);

    /**
     * Runs {@code listener} on the client's callback executor once for every request to give the lock back, made with
     * {@link Revoker} or with Apache Curator's; at once for earlier ones, including those that came while this hold was
     * still waiting for its turn. Requests made while the connection is lost are reported on the next connection.
     *
     * <p>A request changes nothing else: the lease stays as it is, and the application decides whether to close it. A
     * request with a grace period breaks the lease when that period has elapsed. All re-entrant holds that have
     * listeners are notified. The listener cannot close a hold that belongs to a thread, because it runs on another
     * thread.
     *
     * <p>With its first listener a hold reads and watches its node, with one request for each of its nodes; without a
     * listener this costs nothing. While a hold listens, it also learns at once if somebody else deletes its node. The
     * listener does not run for a lease that is closed or lost, even if it ends between the request and the call.
     *
     * @param listener what to call
     */
    void onRevocationRequested(Consumer<RevocationRequest> listener);

    /**
     * Returns a stage that completes with the lease's end: {@link LeaseState#RELEASED} or {@link LeaseState#LOST}.
     * Every call returns the same stage, which no caller can complete or cancel. Dependent stages stay attached until
     * the lease ends, and so does each {@link CompletionStage#toCompletableFuture};
     * {@link CompletionStage#applyToEither} detaches itself when the other stage completes first.
     *
     * <p>Use the stage to be notified. The executor may be late, so code that polls should use {@link #state()}, which
     * is never behind.
     *
     * @return the stage, completed on the client's callback executor, or on a thread for losses with
     *     {@link LeaseState#LOST}. A multi-lock of several clients uses those of the first client
     */
    CompletionStage<LeaseState> ended();

    /**
     * Releases this hold, once; further calls do nothing. With the last hold the lock is released: this method waits
     * for ZooKeeper's confirmation, at most for the request time-out and only while connected, or not at all if the
     * lock {@linkplain LockOptions#withReleaseInBackground releases in the background}; the deletion continues in the
     * background until it is confirmed. Works with the interrupt flag set and keeps it. A lost lease is closed
     * silently.
     *
     * @throws LockAccessException if ZooKeeper refuses to delete the node, which the error names. The hold is released
     *     nevertheless, but others stay locked out until the session ends, another client deletes the node, or this
     *     client, which keeps trying, gets the right to
     * @throws IllegalMonitorStateException if the hold belongs to another thread that is alive
     */
    @Override
    void close();

    /**
     * Releases this hold as {@link #close()} does, without waiting. Further calls report on the same release.
     *
     * @return completes when this hold is released and, if it was the last one, ZooKeeper has confirmed that the node
     *     is deleted or its session has ended; exceptionally with {@link LockAccessException} if ZooKeeper refuses to
     *     delete it, and with {@link LockConnectionException} if the client, on a handle of the application's, is
     *     closed before that is known. Every call returns a future of its own: completing or cancelling it changes
     *     nothing else
     * @throws IllegalMonitorStateException if the hold belongs to another thread that is alive
     */
    CompletableFuture<Void> closeAsync();

    /**
     * Releases this hold when {@code delay} has passed, by the client's own timer: no thread waits. Intended for a lock
     * that has to be kept for a minimum time, although the work under it has ended.
     *
     * <p>Until then the lease stays as it is, and from now on any thread may close it, which ends the wait. A loss also
     * ends the wait, and closes the lease. Of several calls, the one whose delay elapses first counts. The time of
     * {@link LockOptions#withHoldAtMost} continues to run: call {@link #prolong} first if it might elapse sooner. When
     * the client is closed, the lock is released at once.
     *
     * <p>A hold that belongs to a thread still counts for that thread: it may re-enter meanwhile, and if it does, the
     * lock is released with the last of its holds. Use {@link InterProcessLock#acquireAsync} if the delay has to apply
     * to the thread itself, too.
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
