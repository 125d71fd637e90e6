// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * One server. It answers reads from the transactions that it has applied, which may lag behind the committed ones, and
 * forwards writes to its leader. When it is cut off from the leader, it continues to serve for a while.
 */
final class SimulatedServer {
    private final int id;
    private final SimulatedZooKeeper ensemble;
    private final Simulation simulation;
    private final Set<Connection> connections = new LinkedHashSet<>();
    private final WatchTable<Connection> watches = new WatchTable<>();
    private final Set<Long> touched = new LinkedHashSet<>(); // sessions with traffic since the last report
    private final Deque<Runnable> unsent = new ArrayDeque<>(); // messages that wait for the connection to the leader
    private boolean pingDue;
    private boolean cut; // the connection to the leader is dead
    private boolean serving = true;
    private int applied; // the number of transactions of the log that this server has applied
    private long lastToLeader;
    private long lastFromLeader;

    SimulatedServer(int id, SimulatedZooKeeper ensemble) {
        this.id = id;
        this.ensemble = ensemble;
        this.simulation = ensemble.simulation();
    }

    int id() {
        return id;
    }

    boolean isServing() {
        return serving;
    }

    boolean isCut() {
        return cut;
    }

    private boolean isLeading() {
        return ensemble.leader().server() == this;
    }

    NodeTree tree() {
        return ensemble.treeAfter(applied);
    }

    long lastZxid() {
        return ensemble.zxidAfter(applied);
    }

    // ---- Connections.

    /**
     * Adds a connection. If its session already has a connection to this server, closes the old one; the server reads
     * nothing more from it.
     */
    void opened(Connection connection) {
        List.copyOf(connections).stream()
                .filter(old -> old.session() != 0 && old.session() == connection.session())
                .forEach(Connection::closeByServer);
        connections.add(connection);
    }

    void closed(Connection connection) {
        connections.remove(connection);
        watches.removeAll(connection);
    }

    WatchTable<Connection> watches() {
        return watches;
    }

    /** Records traffic of a session. The leader's clock for the session advances with the next report. */
    void touch(long session) {
        if (isLeading()) {
            ensemble.leader().sessions().touch(session);
        } else {
            touched.add(session);
            expectPing();
        }
    }

    /**
     * Plans a report for the next ping: a follower reports when its leader pings it. In this model, pings take no time
     * and even pass through a dead connection, because the engine's conclusions about a session that has been silent
     * for long rely on timely reports.
     */
    private void expectPing() {
        if (!pingDue) {
            pingDue = true;
            Leader pinging = ensemble.leader();
            simulation.plan(pinging.nextPing(), () -> {
                if (pinging.isInOffice()) {
                    report();
                }
            });
        }
    }

    private void report() {
        pingDue = false;
        List<Long> sessions = new ArrayList<>(touched);
        touched.clear();
        toLeader(() -> sessions.forEach(ensemble.leader().sessions()::touch));
    }

    // ---- To and from the leader.

    /** Sends a message to the leader, in order. While the connection to the leader is cut, the message waits. */
    void toLeader(Runnable message) {
        if (cut) {
            unsent.add(message);
            return;
        }
        Leader sentTo = ensemble.leader();
        lastToLeader = Math.max(lastToLeader, simulation.now() + (isLeading() ? 0 : simulation.lag()));
        simulation.plan(lastToLeader, () -> {
            if (sentTo.isInOffice()) {
                message.run();
            }
        });
    }

    /**
     * Delivers a message from the leader, in order. The message is lost if this server is cut off or does not serve by
     * then.
     */
    void fromLeader(Runnable message) {
        lastFromLeader = Math.max(lastFromLeader, simulation.now() + (isLeading() ? 0 : simulation.lag()));
        simulation.plan(lastFromLeader, () -> {
            if (!cut && serving) {
                message.run();
            }
        });
    }

    /**
     * Called when more transactions have been committed than this server has applied. Applies them once the server has
     * heard of them.
     */
    void catchUpLater() {
        if (isLeading()) {
            catchUp(ensemble.log().size());
        } else {
            int known = ensemble.log().size();
            fromLeader(() -> catchUp(known));
        }
    }

    void catchUp(int known) {
        while (applied < known) {
            Leader.Proposal next = ensemble.log().get(applied);
            applied++;
            apply(next);
        }
    }

    private void apply(Leader.Proposal entry) {
        for (Draft.Change change : entry.transaction().changes()) {
            String path = change.path();
            switch (change.kind()) {
                case DELETED -> {
                    fire(path, WatchEvent.DELETED);
                    fire(NodeTree.parent(path), WatchEvent.CHILDREN_CHANGED);
                }
                case DELETED_UNTOLD -> {
                    watches.spend(path, WatchEvent.DELETED);
                    fire(NodeTree.parent(path), WatchEvent.CHILDREN_CHANGED);
                }
                case CHANGED -> fire(path, WatchEvent.DATA_CHANGED);
                case CREATED -> // the engine watches only nodes that exist
                    fire(NodeTree.parent(path), WatchEvent.CHILDREN_CHANGED);
            }
        }
        Connection origin = entry.origin();
        SentRequest<?> request = entry.request();
        if (origin != null && request != null && origin.server() == this) {
            request.answerWith(entry.transaction().answer());
            origin.answerInOrder();
        }
        long ended = entry.transaction().ends();
        if (ended != 0) {
            List.copyOf(connections).stream()
                    .filter(connection -> connection.session() == ended)
                    .forEach(Connection::closeByServer);
        }
    }

    private void fire(String path, WatchEvent event) {
        watches.spend(path, event).forEach(connection -> connection.notify(path, event));
    }

    /**
     * Sets a watch again for a client that has reconnected. If the node has changed since the latest transaction that
     * the client has seen, notifies the client at once instead.
     */
    void watchAgain(WatchKind kind, String path, long seen, Connection connection) {
        TreeNode node = tree().get(path);
        if (node == null) {
            connection.notify(path, WatchEvent.DELETED);
        } else if (kind.changedIn(node) > seen) {
            connection.notify(path, kind.change());
        } else {
            watches.add(kind, path, connection);
        }
    }

    // ---- Faults.

    /** Makes the connection to the leader go dead. Neither side is notified. */
    void cutOff() {
        cut = true;
    }

    /**
     * Closes all connections, because the server has noticed that it has no leader or that its own term has ended. It
     * serves no client until {@link #reconnect}.
     */
    void stopServing() {
        serving = false;
        unsent.clear();
        touched.clear();
        pingDue = false;
        List.copyOf(connections).forEach(Connection::closeByServer);
    }

    /**
     * Restores the connection to the leader. Messages that were not lost meanwhile go through, and the server catches
     * up with the transactions that it has missed.
     */
    void reconnect() {
        cut = false;
        serving = true;
        List<Runnable> waiting = List.copyOf(unsent);
        unsent.clear();
        waiting.forEach(this::toLeader);
        catchUpLater();
    }
}
