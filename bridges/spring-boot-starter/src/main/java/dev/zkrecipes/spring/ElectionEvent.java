// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.Term;

/**
 * An event of an election configured by the properties {@code zkrecipes.elections.NAME}. Listeners are called like a
 * {@link dev.zkrecipes.leader.LeaderListener}, one event at a time; only {@link GiveBackRequested} may be published at
 * the same time as another event.
 */
public sealed interface ElectionEvent {

    /** {@return the name of the election, as in the properties} */
    String name();

    /**
     * Published when this process leads.
     *
     * @param name the name of the election
     * @param term the term
     */
    record TermBegan(String name, Term term) implements ElectionEvent {}

    /**
     * Published when this process no longer leads: stop what only the leader may do. After a resignation, or when the
     * application stops, nobody else leads before the listeners have returned. After a loss, somebody else may lead
     * already. A listener on another thread, for example with {@code @Async}, is not waited for.
     *
     * @param name the name of the election
     * @param term the term
     */
    record TermEnded(String name, Term term) implements ElectionEvent {}

    /**
     * Published when somebody requests that this process give the leadership back. Call {@link LeaderElection#resign}
     * to comply. Otherwise nothing happens, unless the request has a grace period.
     *
     * @param name the name of the election
     * @param term the term
     * @param request the request
     */
    record GiveBackRequested(String name, Term term, RevocationRequest request) implements ElectionEvent {}

    /**
     * Published when this process no longer stands, until the next {@link LeaderElection#join}, because its request was
     * refused or the client is closed.
     *
     * @param name the name of the election
     * @param why what went wrong, and what to do about it
     */
    record Withdrawn(String name, LockException why) implements ElectionEvent {}
}
