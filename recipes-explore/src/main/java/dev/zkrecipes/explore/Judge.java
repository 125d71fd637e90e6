// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.explore.sim.NodeTree;
import dev.zkrecipes.explore.sim.SimulatedScheduler;
import dev.zkrecipes.explore.sim.SimulatedZooKeeper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * Checks the promises, by comparing what the ensemble has committed with what the processes are told. The order of
 * events is the order of the committed transactions: once a transaction has deleted the node of a lease, that lease has
 * ended, whether or not anyone knows.
 */
final class Judge {
    private static final long MOST_LATE = Schedule.SESSION.dividedBy(2).toNanos();
    private static final long FOR_EVER = ExploredLock.FOR_EVER.toNanos();

    private final SimulatedZooKeeper ensemble;
    private final Turns turns;
    private final List<Holding> open = new ArrayList<>();
    private final Map<String, QueuedNode> granted = new HashMap<>(); // by path, while the node exists
    private final Map<String, List<Token>> tokens = new HashMap<>(); // by path of the lock
    private final Set<String> deletedByOperator = new HashSet<>();
    private final Set<Long> endedByOperator = new HashSet<>();
    private final Set<String> goneBeforeTheirTurn = new HashSet<>();
    private final HandOvers handOvers;
    private final LongSupplier now;
    private final long longestHold;
    private int grants;
    private long lastBusyAt = Long.MIN_VALUE;
    private @Nullable BrokenPromise found; // the first one

    /**
     * A lease as its holder sees it. If {@code isAsked}, the holder asks at every step whether the lease is valid;
     * otherwise it never asks.
     */
    private record Holding(
            SimulatedScheduler process,
            String who,
            Lease lease,
            long session,
            List<String> nodes,
            LossWatch loss,
            long since,
            boolean isAsked) {}

    /** The token with which a node was granted, and the transaction that had created the path of the lock by then. */
    private record Token(String who, QueuedNode place, long pathMadeBy, long token) {

        /**
         * Whether the two tokens may be equal: if one hold is nested in the other, or after a change of mode, which
         * keeps the number.
         */
        boolean mayEqual(Token other) {
            return place.equals(other.place)
                    || (place.number() == other.place.number()
                            && pathMadeBy == other.pathMadeBy
                            && who.equals(other.who));
        }
    }

    Judge(SimulatedZooKeeper ensemble, ExploredLock lock, LongSupplier now) {
        this.now = now;
        this.ensemble = ensemble;
        this.turns = new Turns(lock, now);
        this.longestHold = lock.longestHold().toNanos();
        this.handOvers = new HandOvers(lock.localHandoffs());
        ensemble.onCommit(this::onCommit);
    }

    private void onCommit(NodeTree before, List<String> deleted) {
        turns.onCommit(before, ensemble.committed());
        if (!deleted.isEmpty() && !Schedule.lockNodes(before).isEmpty()) {
            lastBusyAt = now.getAsLong();
        }
        deleted.stream()
                .filter(node ->
                        before.data(node).filter(AskingBack::mayBeBroken).isPresent())
                .forEach(deletedByOperator::add);
        for (String node : deleted) {
            if (granted.remove(node) == null && QueuedNode.isOne(node) && !turns.everWas(QueuedNode.of(node), before)) {
                goneBeforeTheirTurn.add(node);
            }
        }
    }

    void accuse(String promise, String message) {
        if (found == null) {
            found = new BrokenPromise(promise, message);
        }
    }

    /** Checks all open leases, after each step. */
    void look() {
        for (Holding holding : open) {
            if (!holding.process().isPaused()) {
                lookAt(holding);
            }
            if (!holding.nodes().stream().allMatch(ensemble.committed()::exists)) {
                holding.loss()
                        .onNodeGone(holding.process().isPaused(), now.getAsLong())
                        .ifPresent(broken ->
                                accuse(broken.rule(), holding.who() + ", " + holding.nodes() + ": " + broken.seen()));
            }
            if (holding.loss().isTold()) {
                handOvers.onLost(holding.nodes());
            }
        }
        throwIfFound();
    }

    private void lookAt(Holding holding) {
        if (!holding.isAsked()) {
            requireEnd(holding);
        } else if (holding.lease().isValid()) {
            requireNodes(holding);
            requireInTime(holding);
        }
    }

    void throwIfFound() {
        if (found != null) {
            throw found;
        }
    }

    private void requireNodes(Holding holding) {
        for (String node : holding.nodes()) {
            if (!ensemble.committed().exists(node)
                    && !deletedByOperator.contains(node)
                    && !endedByOperator.contains(holding.session())) {
                accuse(
                        "a stale lease is not valid",
                        holding.who() + " has a valid lease of " + node + ", which is gone");
            }
        }
    }

    private void requireInTime(Holding holding) {
        if (now.getAsLong() - holding.since() > longestHold) {
            accuse("a lease ends in time", holding.who() + " holds " + holding.nodes() + " for longer than it may");
        }
    }

    /** Checks that a lease ends in time even if nobody asks. */
    private void requireEnd(Holding holding) {
        if (now.getAsLong() - holding.since() > longestHold + MOST_LATE
                && !holding.process().wasPausedSince(holding.since())
                && !holding.loss().isTold()) {
            accuse(
                    "a lease ends in time",
                    holding.who() + " is not told that the time of " + holding.nodes() + " is over");
        }
    }

    /** Records that others have deleted a node, which the holder cannot know before its next check. */
    void deletedByOperator(String node) {
        deletedByOperator.add(node);
    }

    boolean isDeletedByOperator(String node) {
        return deletedByOperator.contains(node);
    }

    /** Records that a session was ended before its time-out, which the holder cannot know before its next check. */
    void endedByOperator(long session) {
        endedByOperator.add(session);
    }

    /**
     * Whether the holder of the next lease asks for its state. If leases end by themselves, every other holder never
     * asks: otherwise it might only be the question that ends them.
     */
    private boolean isAsked() {
        grants++;
        return longestHold == FOR_EVER || grants % 2 == 0;
    }

    /** Checks a lease that a process was granted, and adds it to the open leases. */
    void onGranted(SimulatedScheduler process, String who, Lease lease, long newestSession) {
        List<String> nodes;
        Map<String, Long> fencing;
        try {
            nodes = MultiLease.guardsOf(lease).stream().map(Op::getPath).toList();
            fencing = MultiLease.tokensOf(lease);
        } catch (LockLostException e) {
            return; // the lease was lost before it was passed on, and reports that
        }
        long session = ensemble.committed().owner(nodes.get(0)).orElse(newestSession);
        requireHandOver(who, lease, nodes, fencing);
        open.add(new Holding(process, who, lease, session, nodes, new LossWatch(lease), now.getAsLong(), isAsked()));
        for (String node : nodes) {
            if (ensemble.committed().exists(node)) {
                QueuedNode place = QueuedNode.of(node);
                requireTurn(who, place);
                requireToken(who, place, fencing.getOrDefault(place.lockPath(), -1L));
                granted.put(node, place);
                requireExclusion(place.lockPath());
            } else if (goneBeforeTheirTurn.contains(node)) {
                accuse(
                        "nobody is granted out of turn",
                        who + " is granted " + node + ", which was gone before those in front of it");
            }
        }
    }

    private void requireHandOver(String who, Lease lease, List<String> nodes, Map<String, Long> fencing) {
        List<HandOvers.Open> beside = open.stream()
                .map(holding -> new HandOvers.Open(holding.who(), holding.lease(), holding.nodes()))
                .toList();
        for (String node : nodes) {
            long token = fencing.getOrDefault(QueuedNode.of(node).lockPath(), -1L);
            handOvers
                    .onGranted(who, lease, node, token, beside)
                    .ifPresent(broken -> accuse(broken.rule(), broken.seen()));
        }
    }

    /** Returns the time at which a node was last deleted while there were lock nodes. */
    long lastBusyAt() {
        return lastBusyAt;
    }

    boolean allNodesAreThere(Lease lease) {
        return open.stream()
                .filter(holding -> holding.lease() == lease)
                .allMatch(holding -> holding.nodes().stream().allMatch(ensemble.committed()::exists));
    }

    /** Whether a node of the lease carries a request to release it. */
    boolean isAskedBack(Lease lease) {
        return open.stream()
                .filter(holding -> holding.lease() == lease)
                .flatMap(holding -> holding.nodes().stream())
                .flatMap(node -> ensemble.committed().data(node).stream())
                .anyMatch(AskingBack::isAsked);
    }

    boolean isGranted(QueuedNode place) {
        return granted.containsKey(place.path());
    }

    /** Whether a node in a queue may hold the lock, given all nodes in front of it. */
    boolean mayHold(QueuedNode place) {
        return turns.isNow(place, ensemble.committed());
    }

    Turns turns() {
        return turns;
    }

    /** Removes a lease from the open ones, and returns its nodes; none if it was not open. */
    List<String> onClosing(Lease lease) {
        List<String> nodes = open.stream()
                .filter(holding -> holding.lease() == lease)
                .flatMap(holding -> holding.nodes().stream())
                .toList();
        open.removeIf(holding -> holding.lease() == lease);
        return nodes;
    }

    /**
     * Checks that each earlier request whose node still exists lets this one hold. A lock that keeps this promise is
     * fair, and therefore also exclusive.
     */
    private void requireTurn(String who, QueuedNode place) {
        if (!turns.everWas(place, ensemble.committed())) {
            List<String> front = Turns.inFrontOf(place, ensemble.committed());
            accuse("nobody is granted out of turn", who + " is granted " + place.path() + " behind " + front);
        }
    }

    private void requireExclusion(String lockPath) {
        List<QueuedNode> holders = granted.values().stream()
                .filter(place -> place.lockPath().equals(lockPath))
                .sorted()
                .toList();
        for (QueuedNode holder : holders) {
            List<String> front = holders.stream()
                    .filter(other -> Turns.isInFront(other, holder, ensemble.committed()))
                    .map(QueuedNode::kind)
                    .toList();
            if (!turns.everMayHold(lockPath, front, holder.kind())) {
                accuse("holders do not conflict", "all of these hold: " + holders);
            }
        }
    }

    private void requireToken(String who, QueuedNode place, long token) {
        Token mine = new Token(who, place, ensemble.committed().madeBy(place.lockPath()), token);
        List<Token> earlier = tokens.computeIfAbsent(place.lockPath(), path -> new ArrayList<>());
        for (Token other : earlier) {
            boolean conflicts =
                    !turns.everMayHold(place.lockPath(), List.of(other.place().kind()), place.kind());
            if (conflicts && (mine.mayEqual(other) ? token < other.token() : token <= other.token())) {
                accuse("tokens rise", who + " is granted " + place.path() + " with token " + token + " after " + other);
            }
        }
        earlier.add(mine);
    }
}
