// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A lock that processes share through a path in ZooKeeper.
 *
 * <p><b>Fairness.</b> Requests queue in the order in which ZooKeeper receives them and are granted in that order; those
 * that the recipe lets hold together may hold at the same time. {@link #tryAcquire()} does not overtake other requests,
 * either: it fails while any request is ahead. If a lock is handed over inside the process ({@code recipes-handoff}),
 * the requests of one lock object have their own order.
 *
 * <p><b>Holds and re-entrancy.</b> Every successful acquire returns its own {@link Lease}: one hold. A lock whose
 * recipe is re-entrant grants its holding thread further holds at once; the lock is released with the last of them.
 * Holds are identified by thread, client and path. Any other lock object of the same recipe on the path sees the same
 * holds. A request through a lock of another recipe is refused at once with {@link LockRefusedException}, as the thread
 * would wait for itself; {@link #tryAcquire()} of a lock that is not held by threads waits for nobody, and finds the
 * lock busy. Leases of {@link #acquireAsync()} belong to no thread and are never re-entrant.
 *
 * <p><b>Ownership.</b> A hold belongs to the thread that acquired it, unless the recipe says otherwise: only that
 * thread may release it, or any thread once the owner has terminated.
 *
 * <p><b>Losing the connection.</b> A waiting acquire keeps its place during a disconnect that the session survives, and
 * continues for as long as it takes. If the session ends it queues again or fails, depending on the
 * {@link QueueLossPolicy}.
 *
 * <p><b>Losing the session.</b> A held lock is lost with its session. From then on {@code acquire} by the owner throws
 * {@link LockLostException} until each of the owner's leases is closed.
 *
 * <p><b>Memory consistency effects.</b> As with a {@link Lock}, what a thread does before it releases the lock
 * <i>happens-before</i> what the next holder does after it has acquired it, if both are in one process and use the same
 * client, through whichever lock objects. What a thread does before {@link #acquireAsync()} happens-before the actions
 * that depend on the future. Processes share no memory, but the order holds for ZooKeeper, too: if the write of a
 * holder was answered before it releases the lock, reads of the next holder's session
 * ({@link ZooKeeperClient#zooKeeper()}) see that write. Another session of the next holder may lag behind, even after
 * {@code sync}, which the leader answers without waiting for the write: let that session write something first, such as
 * the data of a node of its own. For any other store the order holds if its reads never lag behind its confirmed
 * writes.
 *
 * <p>Instances are thread-safe. Blocking methods must not be called on ZooKeeper's event thread; there they fail at
 * once with {@link IllegalStateException}. {@link #release()} may be called there and does not wait.
 */
public interface InterProcessLock {

    /**
     * {@return the absolute path of the lock, below the chroot if there is one; for a multi-lock, all of them,
     * separated by commas}
     */
    String path();

    /**
     * Acquires the lock, waiting for as long as it takes. The wait ends when the lock is granted, the thread is
     * interrupted, the client is closed, the recipe or ZooKeeper refuses the request, or the place in the queue is lost
     * under {@link QueueLossPolicy#FAIL}.
     *
     * @return the hold
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; nothing is acquired and the
     *     flag is cleared
     * @throws LockLostException if this thread holds the lock and has lost it
     * @throws ClientClosedException if the client is closed, before or meanwhile
     * @throws LockException if the request is refused; see the subclasses
     */
    Lease acquire() throws InterruptedException;

    /**
     * Acquires the lock if that is possible without waiting for another holder. Waits for the server's answer, at most
     * for the client's request time-out, and writes nothing if the lock is visibly busy. May report a just-released
     * lock as busy, but never a held lock as free. Interruption has no effect on it.
     *
     * @return the hold, or empty if the lock is held or others wait for it
     * @throws LockConnectionException if there is no connection, or no answer within the request time-out
     * @throws LockException otherwise as {@link #acquire}
     */
    Optional<Lease> tryAcquire();

    /**
     * Acquires the lock, waiting no longer than {@code timeout}, whatever the wait is for: other holders, a server, a
     * new session. Zero means not to wait, as with {@link #tryAcquire()}.
     *
     * @param timeout how long to wait at most, measured on the monotonic clock
     * @return the hold, or empty if the time ran out and the lock was seen to be busy
     * @throws LockConnectionException if the time ran out before the state of the lock was seen, or while the
     *     connection is lost: it is not known whether the lock is free. The error names the reason, if it is known
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException as {@link #acquire}
     * @throws LockException otherwise as {@link #acquire}
     */
    Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException;

    /**
     * Runs {@code body} with the lock: {@link #acquire}, the body, {@link Lease#close}.
     *
     * <pre>{@code
     * String answer = mutex.call(lease -> ask(order, lease.fencingToken()));
     * }</pre>
     *
     * <p>The lock is released however the body ends. If the release fails after the body has thrown, its exception is
     * {@linkplain Throwable#addSuppressed suppressed} in the exception of the body; otherwise it is thrown, although
     * the body has run. A loss of the lock does not end the body: see {@link Lease} for what the body can do about a
     * loss.
     *
     * @param <T> what the body returns
     * @param <E> what the body may throw that has to be declared
     * @param body what to run, on the calling thread
     * @return what the body returned
     * @throws E if the body throws it
     * @throws InterruptedException as {@link #acquire}
     * @throws LockException as {@link #acquire} and {@link Lease#close}
     */
    default <T extends @Nullable Object, E extends Exception> T call(Body<T, E> body) throws E, InterruptedException {
        Objects.requireNonNull(body, "body");
        try (Lease lease = acquire()) {
            return body.call(lease);
        }
    }

    /**
     * Runs {@code body} with the lock if it can be acquired in time: as {@link #call}, with
     * {@link #tryAcquire(Duration)}.
     *
     * <pre>{@code
     * Optional<String> inTime = mutex.tryCall(Duration.ofSeconds(2), lease -> ask(order, lease.fencingToken()));
     * }</pre>
     *
     * @param <T> what the body returns
     * @param <E> what the body may throw that has to be declared
     * @param timeout how long to wait at most; zero means not to wait
     * @param body what to run, on the calling thread
     * @return what the body returned; empty if, and only if, the lock was busy and the body was not run
     * @throws NullPointerException if the body returned null, which could not be distinguished from not having run; the
     *     lock is released nevertheless
     * @throws E if the body throws it
     * @throws InterruptedException as {@link #tryAcquire(Duration)}
     * @throws LockException as {@link #tryAcquire(Duration)} and {@link Lease#close}
     */
    default <T, E extends Exception> Optional<T> tryCall(Duration timeout, Body<T, E> body)
            throws E, InterruptedException {
        Objects.requireNonNull(body, "body");
        Optional<Lease> acquired = tryAcquire(timeout);
        if (acquired.isEmpty()) {
            return Optional.empty();
        }
        try (Lease lease = acquired.get()) {
            return Optional.of(Objects.requireNonNull(
                    body.call(lease),
                    "the body of tryCall returned null, as if it had not run: return something else"));
        }
    }

    /**
     * Runs {@code body} with the lock if it can be acquired in time: as {@link #tryCall}, for a body without a result.
     *
     * <pre>{@code
     * boolean wasRun = mutex.tryRun(Duration.ofSeconds(2), lease -> storage.write(order, lease.fencingToken()));
     * }</pre>
     *
     * @param <E> what the body may throw that has to be declared
     * @param timeout how long to wait at most; zero means not to wait
     * @param body what to run, on the calling thread
     * @return whether the body was run, even if the lock was lost meanwhile; false if, and only if, the lock was busy
     * @throws E if the body throws it
     * @throws InterruptedException as {@link #tryAcquire(Duration)}
     * @throws LockException as {@link #tryAcquire(Duration)} and {@link Lease#close}
     */
    default <E extends Exception> boolean tryRun(Duration timeout, Task<E> body) throws E, InterruptedException {
        Objects.requireNonNull(body, "body");
        return tryCall(timeout, lease -> {
                    body.run(lease);
                    return true;
                })
                .isPresent();
    }

    /**
     * The body that {@link #call} runs.
     *
     * @param <T> what it returns
     * @param <E> what it may throw that has to be declared
     */
    @FunctionalInterface
    interface Body<T extends @Nullable Object, E extends Exception> {

        /**
         * Runs with the lock.
         *
         * @param lease the hold, which is closed afterwards
         * @return what the caller gets
         * @throws E which the caller gets, too
         */
        T call(Lease lease) throws E;
    }

    /**
     * The body that {@link #tryRun} runs.
     *
     * @param <E> what it may throw that has to be declared
     */
    @FunctionalInterface
    interface Task<E extends Exception> {

        /**
         * Runs with the lock.
         *
         * @param lease the hold, which is closed afterwards
         * @throws E which the caller gets, too
         */
        void run(Lease lease) throws E;
    }

    /**
     * Requests the lock and returns at once. The lease belongs to no thread: any thread may close it, it is not
     * re-entrant, and {@link #release()}, {@link #isHeldByCurrentThread()} and {@link #holdCount()} do not see it. If
     * you cancel the future, or complete it in any other way, the request leaves the queue. The future completes on the
     * client's callback executor, exceptionally with a {@link LockException} if the request ends without the lock.
     *
     * @return the future lease
     */
    CompletableFuture<Lease> acquireAsync();

    /**
     * Releases the calling thread's most recent hold that is neither closed nor lost, through whichever lock object of
     * this recipe on this path it was acquired. If all open holds are lost, releases the most recent of them. Waits as
     * {@link Lease#close} does.
     *
     * @throws IllegalMonitorStateException if the calling thread has no open hold
     * @throws LockLostException if every open hold had been lost; the most recent one is released nevertheless
     * @throws LockAccessException as {@link Lease#close}
     */
    void release();

    /**
     * {@return whether the calling thread has an open hold that is not lost, through whichever lock object} A hold of a
     * multi-lock is a hold of each member. Decided locally, without asking the server.
     */
    boolean isHeldByCurrentThread();

    /**
     * {@return the number of the calling thread's open holds that {@link #release()} can release} Lost holds count
     * until they are released.
     */
    int holdCount();

    /**
     * {@return whether any hold of this client on this path and of this recipe, by any thread or asynchronously, is
     * open and not lost} For a lock that is held by the instance, this means any hold acquired through this instance.
     * Decided locally, without asking the server.
     */
    boolean isAcquiredInThisProcess();

    /**
     * Returns the holders and waiters of the lock, in the order of the queue, as shown by one read from the server.
     *
     * @return the participants; empty if there are none or the path does not exist
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws LockException if there is no connection, no answer within the request time-out, or ZooKeeper refuses
     */
    List<Participant> participants() throws InterruptedException;

    /**
     * Returns this lock as a {@link Lock}, with that interface's contract: {@code lock()} is not interruptible,
     * {@code tryLock()} does not wait for other holders, {@code unlock()} is {@link #release()}. Conditions are not
     * supported. Errors are the unchecked ones of this interface.
     *
     * <p>{@code tryLock()} does not wait for a connection either: before the first one it throws
     * {@link LockConnectionException}, as {@link #tryAcquire()} does. A client connects in the background, so call
     * {@link ZooKeeperClient#awaitConnected} first when the application starts, or use {@code tryLock} with a time.
     *
     * @return a view; holds acquired through it and through this lock are the same holds
     */
    Lock asLock();
}
