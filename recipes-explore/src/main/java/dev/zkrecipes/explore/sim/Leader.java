// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.Answer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * One term of a leader. The leader takes writes in order, and applies each to the tree as the writes before it will
 * leave it. It commits them in order, when a quorum has them on disk. After its term no server listens to it, but it
 * does not notice at once.
 */
final class Leader {
    private final SimulatedZooKeeper ensemble;
    private final Simulation simulation;
    private final SimulatedServer server;
    private final SessionTracker sessions;
    private final Deque<Proposal> proposals = new ArrayDeque<>();
    private NodeTree newest; // the tree after all proposals
    private long lastZxid;
    private long lastAck; // when the latest proposal is on the disks of a quorum
    private long nextPing;

    /** A proposed transaction, and the request that it answers, which is null if no client requested it. */
    record Proposal(
            Transaction transaction,
            @Nullable SentRequest<?> request,
            @Nullable Connection origin) {}

    Leader(SimulatedZooKeeper ensemble, SimulatedServer server, int epoch) {
        this.ensemble = ensemble;
        this.simulation = ensemble.simulation();
        this.server = server;
        this.sessions = new SessionTracker(simulation, ensemble.tick(), this::end);
        this.newest = ensemble.committed();
        this.lastZxid = (long) epoch << 32;
        this.nextPing = simulation.now() + simulation.choices().next(16) * ensemble.tick() / 32;
    }

    SimulatedServer server() {
        return server;
    }

    SessionTracker sessions() {
        return sessions;
    }

    Deque<Proposal> proposals() {
        return proposals;
    }

    /**
     * Returns the time at which the leader next pings its followers. It pings every half tick, but occasionally a
     * little late. A delay shifts all later pings, too.
     */
    long nextPing() {
        long half = ensemble.tick() / 2;
        if (nextPing <= simulation.now()) {
            long missed = (simulation.now() - nextPing) / half;
            long late = simulation.choices().chance(100) ? Math.min(simulation.lag(), ensemble.tick() / 12) : 0;
            nextPing += (missed + 1) * half + late;
        }
        return nextPing;
    }

    boolean isInOffice() {
        return ensemble.leader() == this;
    }

    /** Takes a request that a server has forwarded. */
    void take(SentRequest<?> request, Connection origin) {
        long session = origin.session();
        Code code = sessions.check(session, origin.server().id());
        Draft draft = draft(session);
        if (code != Code.OK) {
            Transaction refusal = Transaction.of(draft, ignored -> Answer.failed(code), 0);
            propose(new Proposal(refusal, request, origin));
        } else {
            if (request.endsSession()) {
                sessions.startEnding(session);
            }
            propose(new Proposal(request.toTransaction(draft, session), request, origin));
        }
    }

    /**
     * Takes a write that no client of the engine requested. {@code ends} is the session that the write ends; 0 if none.
     */
    void take(long session, SentRequest.Write<?> write, long ends) {
        propose(new Proposal(Transaction.of(draft(session), write, ends), null, null));
    }

    private void end(long session) {
        simulation.tell("leader", () -> "ends session " + session);
        take(
                0,
                draft -> {
                    draft.deleteAllOf(session);
                    return Answer.ok(session);
                },
                session);
    }

    /** Ends a session as if its time-out had elapsed. */
    void expire(long session) {
        if (sessions.startEnding(session)) {
            end(session);
        }
    }

    private Draft draft(long session) {
        return new Draft(newest, ++lastZxid, session, simulation.now(), ensemble::firstNumber);
    }

    private void propose(Proposal proposal) {
        newest = proposal.transaction().tree();
        proposals.add(proposal);
        lastAck = Math.max(lastAck, simulation.now() + simulation.lag());
        simulation.plan(lastAck, this::commitNext);
    }

    private void commitNext() {
        if (isInOffice() && ensemble.hasQuorum() && !proposals.isEmpty()) {
            commit(proposals.remove());
        }
    }

    /**
     * Commits the proposals that could not be committed while there was no quorum. Called when there is a quorum again.
     */
    void commitAll() {
        while (isInOffice() && ensemble.hasQuorum() && !proposals.isEmpty()) {
            commit(proposals.remove());
        }
    }

    private void commit(Proposal proposal) {
        if (proposal.transaction().ends() != 0) {
            sessions.ended(proposal.transaction().ends());
        }
        ensemble.append(proposal);
    }
}
