// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.leader;

import dev.zkrecipes.core.LockException;

/**
 * Listens to the terms of a {@link LeaderElection}. It is notified of beginnings and ends in turn, one call at a time,
 * on the client's callback executor. An exception that it throws is logged and changes nothing.
 *
 * <p>The methods should return soon: start the work on a thread of your own and stop it in {@link #termEnded}, or let
 * {@link LeaderElection#run} do both. While {@link #termBegan} runs, the end of the term cannot be reported, and
 * {@code run} and {@code awaitLeadership} wait. While {@link #termEnded} runs, a leader that has resigned keeps its
 * node, and does not yet stand for its next term.
 */
public interface LeaderListener {

    /**
     * Called when this process leads. If a term ends before its beginning could be reported, neither its beginning nor
     * its end is reported.
     *
     * @param term the term
     */
    void termBegan(Term term);

    /**
     * Called when this process no longer leads: stop what only the leader may do. {@link Term#state()} tells why. After
     * a resignation, or when the election or its client is closed, nobody else leads before this method has returned,
     * unless the session ends or the close stops waiting. After a loss, somebody else may lead already.
     *
     * @param term the term; its end is reported once
     */
    void termEnded(Term term);

    /**
     * Called when this process no longer stands, until the next {@link LeaderElection#join}, because its request was
     * refused or the client is closed.
     *
     * @param why what went wrong, and what to do about it; a refusal has been logged
     */
    default void withdrawn(LockException why) {}
}
