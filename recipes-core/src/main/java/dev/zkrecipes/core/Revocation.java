// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A request to a holder to give a lock back, followed until the holder's node is deleted. The requesting client watches
 * the node meanwhile, and breaks the lease when the grace period, if there is one, has elapsed, whether or not you keep
 * this object. The revocation continues through disconnects and new sessions of its client, and ends when that client
 * is closed.
 *
 * <p>Instances are thread-safe.
 */
public interface Revocation extends AutoCloseable {

    /** {@return the participant that was asked, as it was before the request} */
    Participant participant();

    /**
     * Returns a future of the outcome. It fails with {@link LockAccessException} if the lease may not be broken, with
     * {@link ClientClosedException} if the client is closed before the outcome, with another {@link LockException} if
     * ZooKeeper refuses, and is cancelled by {@link #close}. Every call returns the same future; completing or
     * cancelling it changes nothing else.
     *
     * @return the future, completed on the client's callback executor
     */
    CompletableFuture<RevocationOutcome> outcome();

    /**
     * Waits for the outcome.
     *
     * @param timeout how long to wait at most; zero only checks
     * @return the outcome; empty if there is none yet, in which case nothing has changed
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws LockException as {@link #outcome} fails
     * @throws java.util.concurrent.CancellationException if this was closed before there was an outcome
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    Optional<RevocationOutcome> await(Duration timeout) throws InterruptedException;

    /**
     * Stops following the holder: its node is no longer watched and its lease not broken, unless that has already
     * begun. The request itself stays. Further calls do nothing.
     */
    @Override
    void close();
}
