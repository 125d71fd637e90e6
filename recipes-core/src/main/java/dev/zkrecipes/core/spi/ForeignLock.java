// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.Participant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

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
 * <p>Implementations are thread-safe. They are never asked by a thread that has the lock through
 * {@link LockGroups#foreign}.
 */
public interface ForeignLock {

    /**
     * What names the lock in messages and in {@link InterProcessLock#path()}.
     *
     * @return the same at every call
     */
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
     * The lock while a thread has it. Implementations are thread-safe; see {@link FencedHold} for one that knows more.
     */
    interface Hold {

        /**
         * What is known of it, without asking anybody.
         *
         * @return {@link LeaseState#HELD}, {@link LeaseState#SUSPENDED} or {@link LeaseState#LOST}; a loss is for good
         */
        LeaseState state();

        /**
         * Runs {@code listener} once if the lock is lost before it is released; at once if it is lost already, even if
         * it was released since.
         *
         * @param listener runs code of the application's
         */
        void onLost(Runnable listener);

        /**
         * Gives the lock back, even if it is lost. Called once, by the thread that acquired it, or by another one when
         * that thread is dead. Like {@link dev.zkrecipes.core.Lease#close()} it does not fail because there is no
         * connection.
         */
        void release();
    }
}
