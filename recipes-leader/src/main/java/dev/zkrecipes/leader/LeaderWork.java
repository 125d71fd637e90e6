// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.leader;

/**
 * The work that only the leader does, run by {@link LeaderElection#run}.
 *
 * @param <E> what it throws besides {@link InterruptedException}
 */
@FunctionalInterface
public interface LeaderWork<E extends Exception> {

    /**
     * Does the work of one term. Returning from it resigns. The thread is interrupted when the term ends; stop then,
     * and return or throw.
     *
     * @param term the term
     * @throws InterruptedException if the thread is interrupted
     * @throws E if the work fails
     */
    void lead(Term term) throws InterruptedException, E;
}
