// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.thread.Blocking;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;

/**
 * The adapter that you write so that a lock of another library can be used as an {@link InterProcessLock}, for example
 * as a member of a multi-lock. {@link LockGroups#foreign} adds the rest: holds that belong to threads, re-entrancy,
 * leases, and the view as a {@code java.util.concurrent} lock.
 *
 * <pre>{@code
 * final class TableLock implements ForeignLock {
 *     public String path() { return "table:orders"; }
 *     public Hold acquire() throws InterruptedException { ... }
 *     public Optional<Hold> tryAcquire(Duration atMost) throws InterruptedException { ... }
 * }
 *
 * InterProcessLock table = LockGroups.foreign(new TableLock());
 * new InterProcessMultiLock(List.of(mutex, table)).acquire();
 * }</pre>
 *
 * <p><b>Threads.</b> Implementations are thread-safe. {@link #acquire}, {@link #tryAcquire} and {@link #participants}
 * are called on the requesting thread, and may block; they must respond to interruption themselves.
 * {@link #acquireAsync} may be called on any thread, even ZooKeeper's event thread, and must not block. A thread that
 * holds the lock through {@link LockGroups#foreign} re-enters it without another call of these methods. Any number of
 * requests may be in progress at a time.
 */
public interface ForeignLock {

    /** {@return the name of the lock in messages and in {@link InterProcessLock#path()}, the same at every call} */
    String path();

    /**
     * Acquires the lock, waiting for as long as it takes.
     *
     * @return the hold of the calling thread
     * @throws InterruptedException if the thread is interrupted; nothing is acquired
     * @throws dev.zkrecipes.core.LockException if the lock cannot be acquired
     */
    Hold acquire() throws InterruptedException;

    /**
     * Acquires the lock, waiting no longer than the given time.
     *
     * @param atMost how long to wait; zero means not to wait for another holder
     * @return the hold of the calling thread; empty if the time ran out or the lock is busy
     * @throws InterruptedException if the thread is interrupted; nothing is acquired
     * @throws dev.zkrecipes.core.LockConnectionException if it is unknown whether the lock is free
     * @throws dev.zkrecipes.core.LockException if the lock cannot be acquired
     */
    Optional<Hold> tryAcquire(Duration atMost) throws InterruptedException;

    /**
     * Acquires the lock if it is free, as {@link #tryAcquire} does with a time of zero, but waits for an answer no
     * longer than {@code limit}. For a lock that is built on locks of this library, see {@link LockParts#tryAtOnce}; by
     * default the limit has no effect.
     *
     * @param limit how long to wait for an answer
     * @return the hold of the calling thread; empty if the lock is busy
     * @throws InterruptedException if the thread is interrupted; nothing is acquired
     * @throws dev.zkrecipes.core.LockConnectionException if it is unknown whether the lock is free
     * @throws dev.zkrecipes.core.LockException if the lock cannot be acquired
     */
    default Optional<Hold> tryAtOnce(Duration limit) throws InterruptedException {
        return tryAcquire(Duration.ZERO);
    }

    /**
     * Acquires the lock, waiting for as long as it takes. Interruption does not end the wait; the interrupt flag is
     * kept.
     *
     * @return the hold of the calling thread. By default, {@link #acquire} is called again after each interruption
     * @throws dev.zkrecipes.core.LockException if the lock cannot be acquired
     */
    default Hold acquireUninterruptibly() {
        return Blocking.uninterruptibly(this::acquire);
    }

    /**
     * Requests the lock without waiting. The hold with which the future completes belongs to no thread: any thread may
     * release it. The future may be completed on any thread; the application's code that depends on it does not run
     * there.
     *
     * <p>Cancelling the future withdraws the request, and may happen at any time. So the implementation must check what
     * {@link CompletableFuture#complete} returns: if it is false, nobody has received the hold, and the implementation
     * has to release it.
     *
     * @return completes with the hold, or with a {@link dev.zkrecipes.core.LockException} if the lock cannot be
     *     acquired
     * @throws UnsupportedOperationException if only threads can hold the lock, which is the default
     */
    default CompletableFuture<Hold> acquireAsync() {
        throw new UnsupportedOperationException(
                "the lock " + path() + " is of another library or of several clients, so its"
                        + " leases belong to the thread that acquires them: use acquire or tryAcquire");
    }

    /**
     * See {@link InterProcessLock#participants}.
     *
     * @return the requests in order
     * @throws InterruptedException if the thread is interrupted
     * @throws UnsupportedOperationException if the other library does not provide them, which is the default
     */
    default List<Participant> participants() throws InterruptedException {
        throw new UnsupportedOperationException("the lock " + path()
                + " is of another library, which does not say here who holds it and who waits: ask that library");
    }

    /**
     * A hold of the lock. Three methods are enough for a lock of another library. A lock that is built on leases of
     * this library, such as a multi-lock of several clients, can also implement the rest of what a
     * {@link dev.zkrecipes.core.Lease} offers. Instances are thread-safe: each method may be called on any thread, and
     * methods that only query may be called repeatedly and at any time, even after the release.
     */
    interface Hold {

        /**
         * {@return what is known about the hold without sending a request: {@link LeaseState#HELD},
         * {@link LeaseState#SUSPENDED} or {@link LeaseState#LOST}; a loss is final}
         */
        LeaseState state();

        /**
         * Runs {@code listener} once if the lock is lost before it is released; at once if it is lost already, even if
         * it has been released since. The listener may be run on any thread. It does not block: the application's code
         * runs elsewhere.
         *
         * @param listener what to run
         */
        void onLost(Runnable listener);

        /**
         * Releases the lock, even if it is lost. Either this or {@link #releaseInBackground} is called, once: by the
         * thread that acquired the lock, by another one if that thread is dead or the lock was acquired by
         * {@link #acquireAsync}, or by a thread of the client if {@link LockOptions#withHoldAtMost} requires it. Like
         * {@link dev.zkrecipes.core.Lease#close()} this may wait until the lock is free, and does not fail because
         * there is no connection.
         */
        void release();

        /**
         * Releases the lock as {@link #release} does, if possible without waiting. By default, calls {@link #release}.
         */
        default void releaseInBackground() {
            release();
        }

        /**
         * Releases the lock because the time that {@link LockOptions#withHoldAtMost} allows has elapsed, while its
         * holder may still be at work. Called instead of {@link #releaseInBackground}, which this method calls by
         * default. A lock that hands its underlying lock over to later holders releases that one, too, so that the
         * holder's guards fail.
         */
        default void expire() {
            releaseInBackground();
        }

        /**
         * Releases what another thread could not, and waits for nothing else. Called once, when the thread that
         * acquired the lock first closes a lease of it, also asynchronously, after {@link #expire} was called on
         * another thread, which may still be at it. For a lock that only its own thread can release; by default, does
         * nothing.
         */
        default void releaseByOwner() {}

        /**
         * See {@link dev.zkrecipes.core.Lease#prolong}. For a lock that is built on leases of this library which have
         * limits of their own; by default there are none. The limit in the options of this lock is changed without this
         * method.
         *
         * @param most the new limit, from now on
         */
        default void prolong(Duration most) {}

        /**
         * {@return a future that completes when the lock has been released; by default a completed one} Called after
         * {@link #release} or {@link #releaseInBackground} has returned.
         */
        default CompletableFuture<Void> released() {
            return CompletableFuture.completedFuture(null);
        }

        /**
         * See {@link dev.zkrecipes.core.MultiLease#fencingTokens()}.
         *
         * @return the tokens by path
         * @throws dev.zkrecipes.core.LockLostException if the lock is lost; the lease then throws this error
         * @throws UnsupportedOperationException if there are none, which is the default
         */
        default Map<String, Long> fencingTokens() {
            throw new UnsupportedOperationException(
                    "a lock of another library has no fencing token: let a lock of this library protect what needs one");
        }

        /**
         * See {@link dev.zkrecipes.core.MultiLease#guards()}.
         *
         * @return the checks, at least one
         * @throws UnsupportedOperationException if there are none, which is the default
         */
        default List<Op> guards() {
            throw new UnsupportedOperationException(
                    "a lock of another library has no guard: let a lock of this library protect what needs one");
        }

        /**
         * See {@link dev.zkrecipes.core.Lease#verify()}.
         *
         * @throws InterruptedException if the thread is interrupted on entry or while it waits
         * @throws UnsupportedOperationException if the lock cannot be verified, which is the default
         */
        default void verify() throws InterruptedException {
            throw new UnsupportedOperationException(
                    "a lock of another library cannot be verified: let a lock of this library protect what needs that");
        }

        /**
         * See {@link dev.zkrecipes.core.Lease#onRevocationRequested}. By default there are no such requests, because
         * they are written into the nodes of this library's locks.
         *
         * @param listener called once for each request, until the hold is released or lost
         */
        default void onRevocationRequested(Consumer<RevocationRequest> listener) {}
    }
}
