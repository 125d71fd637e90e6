// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;

/**
 * One hold of a lock. Close it to give it back:
 *
 * <pre>{@code
 * try (Lease lease = mutex.acquire()) {
 *     storage.write(order, lease.fencingToken());
 * }
 * }</pre>
 *
 * <p><b>What a lease can and cannot promise.</b> A process may be paused at any moment, and ZooKeeper gives its lock to
 * somebody else when its session has been silent for too long. {@link #isValid()} and {@link #state()} tell what is
 * known when they are called; they cannot see a pause between the call and what is done next, nor a machine that was
 * suspended, nor clocks of wildly different rate. Where a late write would do harm, let the store refuse it: hand it
 * {@link #fencingToken()}, or, if the store is ZooKeeper, put {@link #guard()} into the {@code multi} that writes.
 *
 * <p>Instances are thread-safe. Who may close a lease, {@link InterProcessLock} says.
 */
public interface Lease extends AutoCloseable {

    /**
     * The path of the lock.
     *
     * @return the absolute path, below the chroot if there is one; for a multi-lock, all of them with commas in between
     */
    String path();

    /**
     * A number for the store to check: greater than that of every earlier holder that this one conflicts with, and the
     * same for all re-entrant holds. A store that remembers the greatest token it has seen and refuses smaller ones is
     * safe from late writers. It is the node's creation transaction id (czxid) times 2048.
     *
     * @return a positive number
     * @throws LockLostException if the lease is lost
     * @throws IllegalStateException if the lease is of several locks that were not entered together and so have tokens of
     *     their own: see {@link #fencingTokens()}
     */
    long fencingToken();

    /**
     * The fencing token of each path that the lease stands on: one, or those of all members of a multi-lock.
     *
     * @return the tokens by path, unmodifiable
     * @throws LockLostException if the lease is lost
     */
    default Map<String, Long> fencingTokens() {
        return Map.of(path(), fencingToken());
    }

    /**
     * What is known of this lease, without asking anybody.
     *
     * @return the state now
     */
    LeaseState state();

    /**
     * Whether the state is {@link LeaseState#HELD}: a server has confirmed the session with a committed write that was
     * sent less than half a session time-out ago, and the connection has stood since.
     *
     * @return true if so; decided locally, without asking the server
     */
    boolean isValid();

    /**
     * Asks ZooKeeper, with a committed check, whether the lock still stands, and returns normally if so. Waits at most
     * for the request time-out.
     *
     * @throws LockLostException if the lease is lost
     * @throws LockConnectionException if no answer came in time: nothing is known
     * @throws IllegalMonitorStateException if the lease is closed
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    void verify() throws InterruptedException;

    /**
     * An operation for a {@code multi} of one's own on the same ensemble and chroot: the {@code multi} is applied only
     * if the lock stands at that moment, and fails as a whole with {@code NoNode} otherwise.
     *
     * @return a check of this lease's node, whose name is unique
     * @throws LockLostException if the lease is lost
     * @throws IllegalMonitorStateException if the lease is closed
     * @throws IllegalStateException if the lease stands on several nodes, which one operation cannot check: see
     *     {@link #guards()}
     */
    Op guard();

    /**
     * The same for whatever the lease stands on: one operation for each of its nodes. Code that may meet a multi-lock
     * puts all of them into its {@code multi}.
     *
     * @return the checks, at least one
     * @throws LockLostException if the lease is lost
     * @throws IllegalMonitorStateException if the lease is closed
     */
    default List<Op> guards() {
        return List.of(guard());
    }

    /**
     * Runs {@code listener} once if the lease becomes LOST before it is closed; at once if it is lost already. It runs on a thread
     * that the client keeps for losses, so that no number of callbacks that block delays it; it may block itself. The
     * listener is kept until the lease ends; see {@link #ended()} for who waits for less.
     *
     * @param listener what to run
     */
    void onLost(Runnable listener);

    /**
     * Runs {@code listener} on the client's callback executor for every request to give the lock back that is made with
     * {@link Revoker}, or by Apache Curator's: once for each request, however many nodes and times it is seen on. Requests
     * that came before are told at once, also those that came while this hold still waited for its turn; requests that
     * come while the connection is lost are told with the next one.
     *
     * <p>A request changes nothing else: the lease stands as it did, and it is the application that closes it, or not. A
     * request with a grace breaks the lease when that is over. All re-entrant holds that have listeners are told. A hold
     * that belongs to a thread cannot be closed by the listener, which runs on another one.
     *
     * <p>With its first listener a hold reads and watches its node, one request for each that it stands on; without one
     * it pays nothing. While it listens, a deletion of its node by somebody else is known at once. Nothing is run for a
     * lease that is closed or lost, also if it ends between the request and the call.
     *
     * @param listener what to tell
     */
    void onRevocationRequested(Consumer<RevocationRequest> listener);

    /**
     * A future of the lease's end: {@link LeaseState#RELEASED} or {@link LeaseState#LOST}. It is the same one for everybody:
     * asking for it again costs nothing, and no caller can complete or cancel it. What is attached to it stays until the
     * lease ends; {@link CompletableFuture#anyOf} and {@link CompletableFuture#orTimeout} leave nothing behind.
     *
     * @return the future, completed on the client's callback executor, or on a thread for losses with {@link LeaseState#LOST}
     */
    CompletableFuture<LeaseState> ended();

    /**
     * Gives this hold back, once; further calls do nothing. With the last hold the lock is released: waits for
     * ZooKeeper's confirmation, at most for the request time-out and only while connected, or not at all if the lock
     * {@linkplain LockOptions#releaseInBackground releases in the background}; the deletion goes on in the background until it is
     * confirmed. Works with the interrupt flag set and keeps it. A lease that is lost is closed
     * silently.
     *
     * @throws LockAccessException if ZooKeeper refuses to delete the node, which the error names: the hold is given back
     *     all the same, but others stay locked out until the session ends, somebody else deletes the node, or the client
     *     gets the right to, for it goes on trying
     * @throws IllegalMonitorStateException if the hold belongs to another thread that is alive
     */
    @Override
    void close();

    /**
     * As {@link #close()}, without waiting. Further calls return the state of the same release.
     *
     * @return completes when this hold is given back and, if it was the last one, ZooKeeper has confirmed that the node
     *     is gone or its session is; exceptionally with {@link LockAccessException} if ZooKeeper refuses to delete it.
     *     Every call returns the same future, which no caller can complete or cancel
     * @throws IllegalMonitorStateException if the hold belongs to another thread that is alive
     */
    CompletableFuture<Void> closeAsync();
}
