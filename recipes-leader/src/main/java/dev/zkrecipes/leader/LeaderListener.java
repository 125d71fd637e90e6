// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.leader;

import dev.zkrecipes.core.LockException;

/**
 * Is told of the terms of a {@link LeaderElection}: began, ended, began, ended; one call at a time, on the client's
 * callback executor. What it throws is logged and changes nothing.
 *
 * <p>Return soon: start the work on a thread of your own and stop it in {@link #termEnded}, or let {@link
 * LeaderElection#run} do both. While {@link #termBegan} runs, the end of the term cannot be told, and {@code run} and
 * {@code awaitLeadership} wait. While {@link #termEnded} runs, a leader that resigned keeps its place, and stands for
 * no further term.
 */
public interface LeaderListener {

    /**
     * This process leads. Of a term that is over before it could be told, neither beginning nor end is told.
     *
     * @param term the term
     */
    void termBegan(Term term);

    /**
     * This process leads no more: stop what only the leader may do. {@link Term#state()} says why. After a resignation,
     * or when the election or its client is closed, nobody else leads before this has returned, unless the session ends
     * or the close does not wait any longer; after a loss somebody else may.
     *
     * @param term the term, told once
     */
    void termEnded(Term term);

    /**
     * This process stands no more until {@link LeaderElection#join}, as its request was refused or the client is
     * closed.
     *
     * @param why what went wrong, and what to do; it is logged
     */
    default void withdrawn(LockException why) {}
}
