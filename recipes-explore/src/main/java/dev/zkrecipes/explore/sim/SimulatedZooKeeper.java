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
import org.apache.zookeeper.ZooDefs;

/**
 * A model of a ZooKeeper ensemble as its clients see it, behind the engine's port. It is deterministic, and runs on one
 * thread and a simulated clock. {@link Choices} decide whatever a real ensemble leaves open.
 *
 * <p>It models:
 *
 * <ul>
 *   <li>Writes. They are forwarded to the leader in order, tried on the tree as earlier writes will leave it, committed
 *       when a quorum has them, and applied by each server later. There are zxids, versions, sequence numbers and
 *       {@code multi}.
 *   <li>Reads. The server of the client answers them from the transactions that it has applied, after the earlier
 *       writes of the same session.
 *   <li>Sessions. The leader has a clock for each session. Traffic of the leader's own clients advances it at once;
 *       other pings and traffic advance it when a follower reports them. A follower reports when the leader pings it,
 *       every half tick or a little later, in order with the writes that it forwards. A session ends in one
 *       transaction, can move from server to server, and a late request through its old server is refused.
 *   <li>Watches. They fire once, on data or on children; the server has one of each kind for each session and node.
 *       Events arrive in the order of the changes. When a client reconnects and is told what it has missed, they arrive
 *       in any order.
 *   <li>The client. It pings after a third of the time-out, gives up a silent connection after two thirds, and ends the
 *       session itself after four thirds.
 *   <li>Faults. Messages are lost or late, before or after their request has been applied. Connections go dead between
 *       client and server, and between follower and leader. Followers lag, or continue to serve without a leader. A
 *       deposed leader serves stale reads, and its transactions survive or not. Operators interfere.
 * </ul>
 *
 * <p>It leaves out access rights, except for {@link #deleteNodeUntold}; also quotas, read-only servers,
 * reconfiguration, observers, and nodes with a time to live. A real server assigns negative numbers while several
 * creates beyond the end of the sequence counter are pending at once; here each of them gets the last number. Not
 * thread-safe.
 */
public final class SimulatedZooKeeper {
    private static final int SERVERS = 3;
    /** The number of ticks after which a server notices that it is cut off. */
    private static final int SYNC_LIMIT = 10;
    /**
     * The session id of all strangers: processes that are not part of the simulation, but have nodes in the ensemble.
     */
    private static final long STRANGERS = 1;

    private final Simulation simulation;
    private final Duration timeout;
    private final long tick;
    private final List<SimulatedServer> servers;
    /** The committed transactions, in order. Each server has applied a prefix of them, and applies the others later. */
    private final List<Proposal> log = new ArrayList<>();

    private final NodeTree empty = NodeTree.empty();
    private BiConsumer<NodeTree, List<String>> listener = (before, deleted) -> {};
    private Leader leader;
    private int epoch = 1; // the epoch of the present leader
    private long lastSession = 0x10000;
    private boolean troubled; // servers are cut off or without a leader
    private int beginning; // the first sequence number on each path; 0 for new paths
    private final Set<String> begun = new HashSet<>(); // paths that have been created once

    /**
     * Starts three servers, all running.
     *
     * @param simulation the simulation of which they are a part
     * @param timeout the session time-out that they grant, at least two ticks
     * @param tick the tick of the servers
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
     * @param scheduler the thread and the clock of the process
     * @param name what traces call the process
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

    /** {@return all nodes after the latest committed transaction} This is the truth, whatever single servers report. */
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
     * Sets a listener that is notified of every committed transaction.
     *
     * @param told called when a transaction is committed, before any server has applied it, with all nodes as they were
     *     before the transaction, and the paths that it has deleted
     */
    public void onCommit(BiConsumer<NodeTree, List<String>> told) {
        listener = told;
    }

    // ---- Faults.

    /** {@return whether servers are cut off or without a leader} Meanwhile, no other such fault may be caused. */
    public boolean isTroubled() {
        return troubled;
    }

    /**
     * Silently cuts the connection between a follower and its leader. The follower continues to serve reads. If the
     * connection stays dead, it notices after a while and stops serving clients.
     *
     * @param which the number of the follower, 0 or more
     * @param time the time until the connection is repaired
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
                server.stopServing(); // before it follows the new leader
            }
            server.reconnect();
            leader.commitAll();
            troubled = false;
        });
    }

    /**
     * Cuts the leader off from all other servers, which elect a new one. Some of its uncommitted transactions may
     * survive. The old leader serves stale reads until it notices.
     *
     * @param time the time from the election until the old leader is back, as a follower
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
     * Ends a session at the leader, as if its time-out had elapsed.
     *
     * @param session the id of the session
     */
    public void expire(long session) {
        leader.expire(session);
    }

    /**
     * Deletes a node, as an operator does.
     *
     * @param path the path of the node
     */
    public void deleteNode(String path) {
        simulation.tell("operator", () -> "deletes " + path);
        leader.take(0, draft -> new Answer<>(draft.delete(path, -1), path), 0);
    }

    /**
     * Deletes a node after an operator has revoked the right to read it. The watches on the node are removed, but
     * nobody is notified.
     *
     * @param path the path of the node
     */
    public void deleteNodeUntold(String path) {
        simulation.tell("operator", () -> "deletes " + path + ", which nobody may read");
        leader.take(0, draft -> new Answer<>(draft.deleteUntold(path), path), 0);
    }

    /**
     * Writes the data of a node once more, which fires the watches on it.
     *
     * @param path the path of the node
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

    /**
     * Deletes an empty node and creates it anew, with the same data. Its counter is then one behind the old one, as if
     * others had created many nodes below it. So after one more create its numbers continue as if it had not been
     * deleted.
     *
     * @param path the path of the node; nothing happens if there is none, if it has children, or if it never had any
     */
    public void makeAnew(String path) {
        simulation.tell("others", () -> "make " + path + " anew");
        leader.take(0, draft -> new Answer<>(draft.makeAnew(path), path), 0);
    }

    /**
     * Creates an ephemeral node of a process that is not part of the simulation, at the end of a queue. The create is
     * not sequential, but the parent's counter counts it.
     *
     * @param prefix the path of the node without its number
     * @param data the data of the node
     */
    public void createStranger(String prefix, byte[] data) {
        simulation.tell("others", () -> "create " + prefix);
        leader.take(
                STRANGERS,
                draft -> new Answer<>(draft.createAtTheEnd(prefix, data, ZooDefs.Ids.OPEN_ACL_UNSAFE), prefix),
                0);
    }

    /** Deletes all nodes that {@link #createStranger} has created. */
    public void removeStrangers() {
        simulation.tell("others", () -> "leave");
        leader.take(
                0,
                draft -> {
                    draft.deleteAllOf(STRANGERS);
                    return Answer.ok(STRANGERS);
                },
                0);
    }

    /** {@return whether there is a node that {@link #createStranger} has created} */
    public boolean hasStrangers() {
        return committed().nodes().values().stream().anyMatch(node -> node.owner() == STRANGERS);
    }

    /** Removes the containers that have had children and are empty now, as the leader does every minute. */
    public void reapContainers() {
        committed().nodes().forEach((path, node) -> {
            if (node.container() && node.creates() > 0 && node.children() == 0) {
                simulation.tell("leader", () -> "reaps " + path);
                leader.take(0, draft -> new Answer<>(draft.delete(path, -1), path), 0);
            }
        });
    }

    /**
     * Makes every path look as if it had been used for years: its counter begins at this number when the path is first
     * created.
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
