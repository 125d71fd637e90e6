// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

/**
 * A lock that processes share through a path in ZooKeeper.
 *
 * <p><b>Fairness.</b> Requests queue in the order in which ZooKeeper receives them and are granted in that order, as far
 * as the recipe lets them hold together. {@link #tryAcquire()} does not overtake either: it fails while anybody is ahead.
 * With {@link LockOptions#localHandoffs(int)} the requests of one client stand in an order of their own.
 *
 * <p><b>Holds and re-entrancy.</b> Every successful acquire returns a {@link Lease} of its own: one hold. A lock whose
 * recipe is re-entrant grants its holding thread further holds at once; the lock is given back with the last of them.
 * Holds are known by thread, client and path: any other lock object of the same recipe on the path does as well, and one of
 * another recipe is refused at once with {@link LockRefusedException}, as the thread would wait for itself.
 * Leases of {@link #acquireAsync()} belong to no thread and are never re-entrant.
 *
 * <p><b>Ownership.</b> A hold belongs to the thread that acquired it, unless the recipe says otherwise: only that
 * thread may give it back, or any thread once the owner is dead.
 *
 * <p><b>Losing the connection.</b> A waiting acquire keeps its place over a disconnect that the session survives, and
 * goes on for as long as it takes. If the session ends it queues again, or fails, as the {@link QueueLossPolicy} says.
 *
 * <p><b>Losing the session.</b> A lock that is held is lost with its session. From then on {@code acquire} by the owner
 * throws {@link LockLostException} until each of the owner's leases is closed.
 *
 * <p>Instances are thread-safe. Blocking methods must not be called on ZooKeeper's event thread; they refuse at once
 * with {@link IllegalStateException}. {@link #release()} may be called there and does not wait.
 */
public interface InterProcessLock {

    /**
     * The path of the lock, below the chroot if there is one.
     *
     * @return the absolute path; for a multi-lock, all of them with commas in between
     */
    String path();

    /**
     * Acquires the lock, waiting for as long as it takes. The wait ends when the lock is granted, the thread is
     * interrupted, the client is closed, the recipe or ZooKeeper refuses the request, or, under
     * {@link QueueLossPolicy#FAIL}, the place in the queue is lost.
     *
     * @return the hold
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; nothing is acquired and the
     *     flag is cleared
     * @throws LockLostException if this thread holds the lock and has lost it
     * @throws ClientClosedException if the client is closed, before or meanwhile
     * @throws LockException if the request is refused; see the subclasses
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    Lease acquire() throws InterruptedException;

    /**
     * Acquires the lock if that is possible without waiting for another holder. It asks the server, at most for the
     * client's request time-out, and writes nothing when the lock is visibly busy. It may call a lock busy that was
     * given back just now; it never calls one free that is held. Interruption does not disturb it.
     *
     * @return the hold, or empty if the lock is held or others wait for it
     * @throws LockConnectionException if there is no connection, or no answer within the request time-out
     * @throws LockLostException if this thread holds the lock and has lost it
     * @throws LockException if the request is refused; see the subclasses
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    Optional<Lease> tryAcquire();

    /**
     * Acquires the lock, waiting no longer than {@code timeout}, whatever the wait is for: other holders, a server, a
     * new session. Zero means not to wait, as {@link #tryAcquire()}.
     *
     * @param timeout how long to wait at most, measured on the monotonic clock
     * @return the hold, or empty if the time ran out
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; nothing is acquired and the
     *     flag is cleared
     * @throws LockLostException if this thread holds the lock and has lost it
     * @throws ClientClosedException if the client is closed, before or meanwhile
     * @throws LockException if the request is refused; see the subclasses
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException;

    /**
     * Asks for the lock and returns at once. The lease belongs to no thread: any thread may close it, it is not
     * re-entrant, and {@link #release()}, {@link #isHeldByCurrentThread()} and {@link #holdCount()} do not see it.
     * Cancelling the future, or completing it in any other way, leaves the queue. The future completes on the client's
     * callback executor, exceptionally with a {@link LockException} if the request ends without the lock.
     *
     * @return the future lease
     */
    CompletableFuture<Lease> acquireAsync();

    /**
     * Gives back the calling thread's youngest open hold, through whichever lock object of this recipe on this path it was
     * acquired, and also if an older one is lost. Waits for ZooKeeper's confirmation, at most for the request
     * time-out and only while connected, or not at all if the lock {@linkplain LockOptions#releaseInBackground releases in the
     * background}; the deletion goes on in the background until it is confirmed. Works with the interrupt flag set and keeps it.
     *
     * @throws IllegalMonitorStateException if the calling thread has no open hold
     * @throws LockLostException if that hold had been lost; it is given back all the same
     * @throws LockAccessException if ZooKeeper refuses to delete the node, which the error names: the hold is given back
     *     all the same, but others stay locked out until the session ends, somebody else deletes the node, or the client
     *     gets the right to, for it goes on trying
     */
    void release();

    /**
     * Whether the calling thread has an open hold that is not lost, through whichever lock object. A hold of several locks as
     * one is a hold of each.
     *
     * @return true if so; decided locally, without asking the server
     */
    boolean isHeldByCurrentThread();

    /**
     * The number of the calling thread's open holds that {@link #release()} can give back. Holds that are lost count until
     * they are given back.
     *
     * @return the count, 0 if there are none
     */
    int holdCount();

    /**
     * Whether any hold of this client on this path and of this recipe, by whichever thread or asynchronously, is open and not
     * lost. Of a lock that is held by the instance: any hold acquired through this instance.
     *
     * @return true if so; decided locally, without asking the server
     */
    boolean isAcquiredInThisProcess();

    /**
     * Who holds the lock and who waits for it, in the order of the queue, as of one look at the server.
     *
     * @return the participants; empty if there are none or the path does not exist
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws LockConnectionException if there is no connection, or no answer within the request time-out
     * @throws LockException if ZooKeeper refuses the request
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    List<Participant> participants() throws InterruptedException;

    /**
     * This lock as a {@link Lock}, with that interface's contract: {@code lock()} is not interruptible,
     * {@code tryLock()} does not wait for other holders, {@code unlock()} is {@link #release()}. Conditions are not
     * supported. Errors are the unchecked ones of this interface.
     *
     * @return a view; holds made through it and through this lock are the same holds
     */
    Lock asLock();
}
