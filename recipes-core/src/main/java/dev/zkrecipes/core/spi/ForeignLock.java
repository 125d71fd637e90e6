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
 * The part of another library's lock that you write yourself so that it can be used as an {@link InterProcessLock}, for
 * example as a member of a multi-lock. {@link LockGroups#foreign} adds the rest: holds and their threads, re-entrancy,
 * leases, the view as a {@code java.util.concurrent} lock.
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
 * are called on the thread that asks, and may block; interruptions are theirs to heed. {@link #acquireAsync} is called
 * on any thread, even ZooKeeper's event thread, and must not block. A thread that has the lock through {@link
 * LockGroups#foreign} is never sent here for it again. Any number of requests may be under way at a time.
 */
public interface ForeignLock {

    /** {@return what names the lock in messages and in {@link InterProcessLock#path()}, the same at every call} */
    String path();

    /**
     * Acquires the lock, waiting for as long as it takes.
     *
     * @return what the calling thread has then
     * @throws InterruptedException if the thread is interrupted; nothing is acquired
     * @throws dev.zkrecipes.core.LockException if the lock cannot be acquired
     */
    Hold acquire() throws InterruptedException;

    /**
     * Acquires the lock, waiting no longer than a time.
     *
     * @param atMost how long to wait; zero means not to wait for another holder
     * @return what the calling thread has then; empty if the time ran out or the lock is busy
     * @throws InterruptedException if the thread is interrupted; nothing is acquired
     * @throws dev.zkrecipes.core.LockConnectionException if it cannot be found out whether the lock is free
     * @throws dev.zkrecipes.core.LockException if the lock cannot be acquired
     */
    Optional<Hold> tryAcquire(Duration atMost) throws InterruptedException;

    /**
     * Acquires the lock, waiting for as long as it takes, whatever interrupts the thread; the flag is kept.
     *
     * @return what the calling thread has then; by default, after an interruption, of a new {@link #acquire}
     * @throws dev.zkrecipes.core.LockException if the lock cannot be acquired
     */
    default Hold acquireUninterruptibly() {
        return Blocking.uninterruptibly(this::acquire);
    }

    /**
     * Asks for the lock without waiting. What the future ends with belongs to no thread: any thread may release it. It
     * may be completed on any thread; what follows from that does not run there.
     *
     * <p>Cancelling the future withdraws the request, and may happen at any time. So whoever completes it looks at what
     * {@link CompletableFuture#complete} returns: if that is false, nobody has the hold, and it has to be given back.
     *
     * @return completes with the hold, or with a {@link dev.zkrecipes.core.LockException} if the lock cannot be
     *     acquired
     * @throws UnsupportedOperationException if the lock belongs to threads only, which is the default
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
     * @throws UnsupportedOperationException if the other library does not tell, which is the default
     */
    default List<Participant> participants() throws InterruptedException {
        throw new UnsupportedOperationException("the lock " + path()
                + " is of another library, which does not say here who holds it and who waits: ask that library");
    }

    /**
     * The lock while somebody has it. Three methods are enough for a lock of another library. One that stands on leases
     * of this library, as a multi-lock of several clients does, also knows the rest of what a
     * {@link dev.zkrecipes.core.Lease} tells. Instances are thread-safe: each method may be called on any thread, and
     * those that ask may be called at any time and again and again, also after the release.
     */
    interface Hold {

        /**
         * {@return what is known of it, without asking anybody: {@link LeaseState#HELD}, {@link LeaseState#SUSPENDED}
         * or {@link LeaseState#LOST}; a loss is for good}
         */
        LeaseState state();

        /**
         * Runs {@code listener} once if the lock is lost before it is released; at once if it is lost already, even if
         * it was released since. It may run on any thread, and does not block: code of the application's is run
         * elsewhere.
         *
         * @param listener what to run
         */
        void onLost(Runnable listener);

        /**
         * Gives the lock back, even if it is lost. Either this or {@link #releaseInBackground} is called, once: by the
         * thread that acquired it, by another one when that thread is dead or when the lock was acquired by {@link
         * #acquireAsync}, or by a thread of the client when {@link LockOptions#withHoldAtMost} says so. Like {@link
         * dev.zkrecipes.core.Lease#close()} it may wait until the lock is free, and does not fail because there is no
         * connection.
         */
        void release();

        /** Gives the lock back as {@link #release} does, if possible without waiting. By default it calls that. */
        default void releaseInBackground() {
            release();
        }

        /**
         * Gives the lock back because the time that {@link LockOptions#withHoldAtMost} allows is over, while its holder
         * may still be at work. It is called in place of {@link #releaseInBackground}, which it calls by default. A
         * lock that passes on what it stands on gives that back, too, so that the holder's guards fail.
         */
        default void expire() {
            releaseInBackground();
        }

        /**
         * See {@link dev.zkrecipes.core.Lease#prolong}. For a lock that stands on leases of this library with limits of
         * their own; by default there are none. The limit of its own options is changed without this.
         *
         * @param most how long from now on
         */
        default void prolong(Duration most) {}

        /**
         * {@return when the lock has been given back: done when it has, which by default it is} Called after {@link
         * #release} or {@link #releaseInBackground} has returned.
         */
        default CompletableFuture<Void> released() {
            return CompletableFuture.completedFuture(null);
        }

        /**
         * See {@link dev.zkrecipes.core.MultiLease#fencingTokens()}.
         *
         * @return the tokens by path
         * @throws dev.zkrecipes.core.LockLostException if the lock is lost; the lease's errors are this one then
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
         * @throws UnsupportedOperationException if nobody can be asked, which is the default
         */
        default void verify() throws InterruptedException {
            throw new UnsupportedOperationException(
                    "a lock of another library cannot be verified: let a lock of this library protect what needs that");
        }

        /**
         * See {@link dev.zkrecipes.core.Lease#onRevocationRequested}. By default, there are no such requests, which are
         * written into nodes of this library's locks.
         *
         * @param listener called once for each request, until the hold is released or lost
         */
        default void onRevocationRequested(Consumer<RevocationRequest> listener) {}
    }
}
