// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.Term;

/**
 * What happens in an election of the properties {@code zkrecipes.elections.NAME}. Listeners are called as {@link
 * dev.zkrecipes.leader.LeaderListener} is, one event at a time; only {@link GiveBackRequested} may come beside another.
 */
public sealed interface ElectionEvent {

    /** {@return the name of the election, as in the properties} */
    String name();

    /**
     * This process leads.
     *
     * @param name the name of the election
     * @param term the term
     */
    record TermBegan(String name, Term term) implements ElectionEvent {}

    /**
     * This process leads no more: stop what only the leader may do. After a resignation, or when the application stops,
     * nobody else leads before the listeners have returned; after a loss somebody else may. A listener on another
     * thread, as by {@code @Async}, is not waited for.
     *
     * @param name the name of the election
     * @param term the term
     */
    record TermEnded(String name, Term term) implements ElectionEvent {}

    /**
     * Somebody asks for the leadership back. Nothing happens by itself, unless the request has a grace period: call
     * {@link LeaderElection#resign} to comply.
     *
     * @param name the name of the election
     * @param term the term
     * @param request who asks
     */
    record GiveBackRequested(String name, Term term, RevocationRequest request) implements ElectionEvent {}

    /**
     * This process stands no more, until {@link LeaderElection#join}: its request was refused, or the client is closed.
     *
     * @param name the name of the election
     * @param why what went wrong, and what to do
     */
    record Withdrawn(String name, LockException why) implements ElectionEvent {}
}
