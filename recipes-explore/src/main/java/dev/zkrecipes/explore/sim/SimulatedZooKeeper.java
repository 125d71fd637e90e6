// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.explore.sim.Leader.Proposal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A model of a ZooKeeper ensemble as its clients see it, behind the engine's port: deterministic, on one thread and a
 * simulated clock. {@link Choices} decide whatever a real ensemble leaves open.
 *
 * <p>What it models:
 *
 * <ul>
 *   <li>writes: passed on to the leader in order, tried on what the ones before them will have left, committed when a
 *       quorum has them, applied by each server later; zxids, versions, sequence numbers, {@code multi}
 *   <li>reads: answered by the client's own server from what it has applied; behind the writes of the same session
 *   <li>sessions: only pings and traffic that a follower reports move the leader's clock; it reports when the leader
 *       pings it, every half tick or a little later, in order with the writes that it forwards; they end in one
 *       transaction; they move from server to server; a late request by way of the old server is refused
 *   <li>watches: one-shot, on data or on children, one of each kind for each session and node at the server; events in
 *       the order of the changes, but in any order where a client that comes back is told what it missed
 *   <li>the client: pings after a third of the time-out, gives up a silent connection after two thirds, ends the
 *       session itself after four thirds
 *   <li>faults: lost and late messages, before and after the request was applied; dead lines between client and server
 *       and between follower and leader; followers that lag or serve on without a leader; a deposed leader, whose
 *       transactions may survive or not, serving reads of the past; what operators do
 * </ul>
 *
 * <p>What it leaves out: access rights, but for {@link #deleteNodeUntold}; quotas, read-only servers, reconfiguration,
 * observers, nodes with a time to live. Also the negative numbers that a server gives while several creates beyond the
 * end of the sequence counter are under way at once: here each of them gets the last number. Not thread-safe.
 */
public final class SimulatedZooKeeper {
    private static final int SERVERS = 3;
    /** Ticks after which a server that is cut off notices. */
    private static final int SYNC_LIMIT = 10;

    private final Simulation simulation;
    private final Duration timeout;
    private final long tick;
    private final List<SimulatedServer> servers;
    /** The transactions that a quorum has, in order. Each server stands after one of them, as it applies them later. */
    private final List<Proposal> log = new ArrayList<>();

    private final NodeTree empty = NodeTree.empty();
    private BiConsumer<NodeTree, List<String>> listener = (before, deleted) -> {};
    private Leader leader;
    private int epoch = 1;
    private long lastSession = 0x10000;
    private boolean troubled;
    private int beginning;
    private final Set<String> begun = new HashSet<>();

    /**
     * Three servers, all up.
     *
     * @param simulation what they are part of
     * @param timeout the session time-out that they grant, at least two ticks
     * @param tick the servers' tick
     */
    public SimulatedZooKeeper(Simulation simulation, Duration timeout, Duration tick) {
        this.simulation = Objects.requireNonNull(simulation, "simulation");
        this.timeout = Objects.requireNonNull(timeout, "timeout");
        this.tick = Objects.requireNonNull(tick, "tick").toNanos();
        this.servers = IntStream.range(0, SERVERS)
                .mapToObj(id -> new SimulatedServer(id, this))
                .toList();
        this.leader = new Leader(this, servers.get(0), epoch);
    }

    /**
     * {@return the sessions of one process, for {@code ZooKeeperClientBuilder.operations}}
     *
     * @param scheduler the process
     * @param name what to call it in traces
     */
    public SimulatedProcess process(SimulatedScheduler scheduler, String name) {
        return new SimulatedProcess(this, scheduler, name);
    }

    Simulation simulation() {
        return simulation;
    }

    long tick() {
        return tick;
    }

    Duration timeout() {
        return timeout;
    }

    Leader leader() {
        return leader;
    }

    SimulatedServer server(int id) {
        return servers.get(id);
    }

    long newSession() {
        return ++lastSession;
    }

    // ---- What is committed.

    boolean hasQuorum() {
        if (leader.server().isCut()) {
            return false;
        }
        long linked = servers.stream()
                .filter(server -> !server.isCut() && server.isServing())
                .count();
        return linked > SERVERS / 2;
    }

    void append(Proposal proposal) {
        add(proposal);
        servers.stream().filter(server -> !server.isCut()).forEach(SimulatedServer::catchUpLater);
    }

    private void add(Proposal proposal) {
        NodeTree before = committed();
        log.add(proposal);
        listener.accept(
                before,
                proposal.transaction().changes().stream()
                        .filter(change -> change.kind().isDeletion())
                        .map(Draft.Change::path)
                        .toList());
    }

    List<Proposal> log() {
        return log;
    }

    NodeTree treeAfter(int count) {
        return count == 0 ? empty : log.get(count - 1).transaction().tree();
    }

    long zxidAfter(int count) {
        return count == 0 ? 0 : log.get(count - 1).transaction().zxid();
    }

    /** {@return all nodes after the last committed transaction: the truth, whatever single servers say} */
    public NodeTree committed() {
        return treeAfter(log.size());
    }

    /** {@return the paths of the nodes on which the servers have watches} */
    public Set<String> watchedNodes() {
        return servers.stream()
                .flatMap(server -> server.watches().paths().stream())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    Set<String> watchedNodes(WatchKind kind) {
        return servers.stream()
                .flatMap(server -> server.watches().paths(kind).stream())
                .collect(Collectors.toSet());
    }

    /**
     * Reports every committed transaction.
     *
     * @param told run when one is committed, before any server has applied it; told all nodes as they were before
     *     it and the paths that it deleted
     */
    public void onCommit(BiConsumer<NodeTree, List<String>> told) {
        listener = told;
    }

    // ---- Faults.

    /** {@return whether servers are cut off or without a leader; then no other such fault can strike} */
    public boolean isTroubled() {
        return troubled;
    }

    /**
     * Cuts the connection between a follower and its leader, silently. The follower continues to serve reads; if the
     * connection stays dead, it notices after a while and serves no client.
     *
     * @param which one of the followers, 0 or more
     * @param time until the connection is repaired
     */
    public void cutFollower(int which, Duration time) {
        SimulatedServer follower = servers.get((leader.server().id() + 1 + which % (SERVERS - 1)) % SERVERS);
        simulation.tell("ensemble", () -> "server " + follower.id() + " is cut off from its leader for " + time);
        troubled = true;
        follower.cutOff();
        noticeAndHeal(follower, time, false);
    }

    private void noticeAndHeal(SimulatedServer server, Duration time, boolean hasNewLeader) {
        simulation.after(Duration.ofNanos(SYNC_LIMIT * tick), () -> {
            if (server.isCut()) {
                server.stopServing();
            }
        });
        simulation.after(time, () -> {
            simulation.tell("ensemble", () -> "server " + server.id() + " is back");
            if (hasNewLeader) {
                server.stopServing(); // before it follows another one
            }
            server.reconnect();
            leader.commitAll();
            troubled = false;
        });
    }

    /**
     * Cuts the leader off from all others, which elect another one. Some of its uncommitted transactions may survive.
     * It serves reads of the past until it notices.
     *
     * @param time until it is back, as a follower, after the election
     */
    public void deposeLeader(Duration time) {
        Leader old = leader;
        simulation.tell("ensemble", () -> "server " + old.server().id() + " leads no more, for " + time);
        troubled = true;
        old.server().cutOff();
        servers.stream().filter(server -> server != old.server()).forEach(SimulatedServer::stopServing);
        simulation.plan(simulation.now() + 10 * simulation.lag(), () -> elect(old, time));
    }

    private void elect(Leader old, Duration time) {
        int surviving = simulation.choices().next(old.proposals().size() + 1);
        for (int i = 0; i < surviving; i++) {
            Proposal proposal = old.proposals().remove();
            add(proposal);
            old.sessions().ended(proposal.transaction().ends());
        }
        int next = (old.server().id() + 1 + simulation.choices().next(SERVERS - 1)) % SERVERS;
        SimulatedServer elected = servers.get(next);
        epoch++;
        elected.catchUp(log.size());
        leader = new Leader(this, elected, epoch);
        leader.sessions().goOnFrom(old.sessions());
        old.sessions().stop();
        simulation.tell("ensemble", () -> "server " + next + " leads, " + surviving + " transactions survived");
        servers.stream().filter(server -> server != old.server()).forEach(SimulatedServer::reconnect);
        noticeAndHeal(old.server(), time, true);
    }

    /**
     * Ends a session at the leader, as if its time had passed.
     *
     * @param session the session's id
     */
    public void expire(long session) {
        leader.expire(session);
    }

    /**
     * Deletes a node, as an operator does.
     *
     * @param path the node's path
     */
    public void deleteNode(String path) {
        simulation.tell("operator", () -> "deletes " + path);
        leader.take(0, draft -> new Answer<>(draft.delete(path, -1), path), 0);
    }

    /**
     * Deletes a node as an operator does who has taken away the right to read it: the watches on it are spent, and
     * nobody is told.
     *
     * @param path the node's path
     */
    public void deleteNodeUntold(String path) {
        simulation.tell("operator", () -> "deletes " + path + ", which nobody may read");
        leader.take(0, draft -> new Answer<>(draft.deleteUntold(path), path), 0);
    }

    /**
     * Writes a node's data anew, which spends the watches on it.
     *
     * @param path the node's path
     */
    public void touchNode(String path) {
        simulation.tell("operator", () -> "writes to " + path);
        leader.take(
                0,
                draft -> {
                    TreeNode node = draft.tree().get(path);
                    return new Answer<>(draft.setData(path, node == null ? new byte[0] : node.data(), -1), path);
                },
                0);
    }

    /** Removes containers that have had children and have none, as the leader does every minute. */
    public void reapContainers() {
        committed().nodes().forEach((path, node) -> {
            if (node.container() && node.creates() > 0 && node.children() == 0) {
                simulation.tell("leader", () -> "reaps " + path);
                leader.take(0, draft -> new Answer<>(draft.delete(path, -1), path), 0);
            }
        });
    }

    /**
     * Makes every path look as if it had been used for years: when it is first created, its counter begins here.
     *
     * @param number the number of the first sequential node
     */
    public void beginCountersAt(int number) {
        beginning = number;
    }

    int firstNumber(String path) {
        return beginning != 0 && begun.add(path) ? beginning : 0;
    }
}
