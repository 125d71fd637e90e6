// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of one session: its connections, pending requests and watches, as ZooKeeper's own client keeps
 * them. Everything about connections happens on the handle's own threads. The engine is notified in order, on its own
 * thread.
 */
final class SimulatedSession {
    private final SimulatedZooKeeper ensemble;
    private final Simulation simulation;
    private final SimulatedProcess process;
    private final SimulatedScheduler scheduler;
    private final Consumer<State> states;
    private final long timeout;
    private final PendingRequests pending = new PendingRequests();
    private final WatchTable<Consumer<NodeEvent>> watches = new WatchTable<>();
    private final Set<Consumer<NodeEvent>> silenced = new HashSet<>(); // watches that receive no more events
    private State state = State.CONNECTING;
    private @Nullable Connection connection;
    private long sessionId;
    private long lastSent;
    private long lastHeard;
    private long lastZxid; // zxid of the latest transaction that it has seen

    SimulatedSession(SimulatedZooKeeper ensemble, SimulatedProcess process, Consumer<State> states) {
        this.ensemble = ensemble;
        this.simulation = ensemble.simulation();
        this.process = process;
        this.scheduler = process.scheduler();
        this.states = states;
        this.timeout = ensemble.timeout().toNanos();
        this.lastHeard = simulation.now();
        connectLater();
    }

    SimulatedZooKeeper ensemble() {
        return ensemble;
    }

    SimulatedScheduler scheduler() {
        return scheduler;
    }

    long id() {
        return sessionId;
    }

    int watchCount() {
        return watches.size();
    }

    private void tell(String what) {
        simulation.tell(process.name(), () -> what);
    }

    // ---- Connecting.

    private void connectLater() {
        scheduler.planHere(simulation.now() + 10 * simulation.lag(), this::connect);
    }

    private void connect() {
        if (state.isFinal() || connection != null) {
            return;
        }
        SimulatedServer server = ensemble.server(simulation.choices().next(3));
        if (process.isCutOff() || !server.isServing()) {
            failAll(Code.CONNECTIONLOSS);
            connectLater();
            return;
        }
        Connection begun = new Connection(simulation, this, server, sessionId);
        connection = begun;
        lastSent = simulation.now();
        begun.toServer(() -> shakeHands(begun, server));
        scheduler.planHere(simulation.now() + timeout / 3, () -> {
            if (connection == begun && state != State.CONNECTED) {
                disconnect("got no answer from server " + server.id());
            }
        });
    }

    /**
     * Ends a session that no server has answered for four thirds of its time-out, as ZooKeeper's client has done since
     * 3.9.3.
     */
    private void endIfOverdue() {
        if (sessionId != 0
                && !state.isFinal()
                && state != State.CONNECTED
                && simulation.now() - lastHeard >= timeout * 4 / 3) {
            end(State.EXPIRED, "ends the session itself: no server was heard for too long");
        }
    }

    /**
     * Opens or resumes the session of a new connection, at the server. A server that has seen less than the client
     * refuses the session.
     */
    private void shakeHands(Connection begun, SimulatedServer server) {
        if (!server.isServing() || server.lastZxid() < lastZxid) {
            heard(); // ZooKeeper's client counts this as heard, because the server has accepted its connection
            begun.closeByServer();
            return;
        }
        long known = begun.session();
        server.opened(begun);
        if (known == 0) {
            long made = ensemble.newSession();
            begun.attach(made);
            server.toLeader(() -> ensemble.leader().sessions().add(made, timeout, server.id()));
            begun.receive(SentRequest.ownWrite(
                    "create session", draft -> Answer.ok(made), answer -> onConnected(begun, made)));
        } else {
            server.toLeader(() -> {
                boolean lives = ensemble.leader().sessions().revalidate(known, server.id());
                server.fromLeader(() -> begun.toClient(() -> {
                    if (lives) {
                        onConnected(begun, known);
                    } else {
                        end(State.EXPIRED, "is told that session " + known + " has ended");
                    }
                }));
            });
        }
    }

    private void onConnected(Connection made, long id) {
        if (connection != made || state.isFinal()) {
            return;
        }
        sessionId = id;
        lastHeard = simulation.now();
        become(
                State.CONNECTED,
                "session " + id + " is connected to server " + made.server().id());
        if (watches.size() > 0) {
            send(setWatchesAgain());
        }
        pending.unsent().forEach(this::send);
        keepAlive(made);
    }

    /** Pings after a third of the time-out without a request, and disconnects after two thirds without an answer. */
    private void keepAlive(Connection kept) {
        long due = Math.min(lastSent + timeout / 3, lastHeard + timeout * 2 / 3);
        scheduler.planHere(due, () -> {
            if (connection != kept || state != State.CONNECTED) {
                return;
            }
            if (simulation.now() - lastHeard >= timeout * 2 / 3) {
                disconnect("has heard nothing for too long");
                return;
            }
            if (simulation.now() - lastSent >= timeout / 3) {
                lastSent = simulation.now();
                kept.ping();
            }
            keepAlive(kept);
        });
    }

    void heard() {
        lastHeard = simulation.now();
    }

    void disconnect(String why) {
        Connection lost = connection;
        if (lost == null) {
            return;
        }
        connection = null;
        lost.closeByClient();
        if (!state.isFinal()) {
            failAll(Code.CONNECTIONLOSS);
            if (state == State.CONNECTED) {
                become(State.DISCONNECTED, why);
            }
            connectLater();
            scheduler.planHere(lastHeard + timeout * 4 / 3, this::endIfOverdue);
        }
    }

    /**
     * Breaks the connection. The server still passes on the first write that seemed not to arrive, but only after this
     * time.
     */
    void disconnectHoldingBack(Duration time) {
        if (connection != null) {
            tell("a server is to hold a write back for " + time);
            connection.holdBack(time);
            disconnect("the connection breaks");
        }
    }

    /** Makes the session one that has seen a transaction which no server knows any more, so all servers refuse it. */
    void outliveData() {
        if (sessionId != 0) {
            lastZxid = Long.MAX_VALUE;
            disconnect("the servers have lost what it has seen");
        }
    }

    void stall(Duration time) {
        if (connection != null) {
            tell("the line is dead for " + time);
            connection.stall(time);
        }
    }

    /** Disconnects, after the server has closed the connection. */
    void onClosed() {
        disconnect("the server hangs up");
    }

    private void end(State how, String why) {
        become(how, why);
        Connection last = connection;
        connection = null;
        if (last != null) {
            last.closeByClient();
        }
        failAll(Code.SESSIONEXPIRED);
        watches.clear();
    }

    private void become(State next, String why) {
        tell(why);
        state = next;
        scheduler.execute(() -> states.accept(next));
    }

    /**
     * Fails all requests. Sent requests may have been applied, unsent ones have not. The client does not learn which.
     */
    private void failAll(Code code) {
        for (SentRequest<?> request : pending.all()) {
            simulation.tell(process.name(), () -> "gets no answer to " + request);
            request.fail(code, scheduler::execute);
        }
    }

    // ---- Requests.

    void submit(SentRequest<?> request) {
        if (state.isFinal()) {
            request.fail(Code.SESSIONEXPIRED, scheduler::execute);
        } else if (state == State.CONNECTED) {
            send(request);
        } else {
            pending.keep(request);
        }
    }

    private void send(SentRequest<?> request) {
        Connection to = connection;
        if (to == null) {
            throw new IllegalStateException("connected without a connection");
        }
        lastSent = simulation.now();
        pending.onSent(request);
        to.send(request);
    }

    void onReply(SentRequest<?> request, long zxid) {
        heard();
        lastZxid = Math.max(lastZxid, zxid);
        pending.onAnswered(request);
        simulation.tell(process.name(), () -> "hears " + request);
        request.arrive(scheduler::execute);
    }

    void onWatch(String path, WatchEvent event) {
        heard();
        Set<Consumer<NodeEvent>> told = watches.spend(path, event);
        if (!told.isEmpty()) {
            simulation.tell(process.name(), () -> "is told of " + path + ": " + event);
            told.stream()
                    .filter(watch -> !silenced.contains(watch))
                    .forEach(watch -> scheduler.execute(() -> watch.accept(event.told())));
        }
    }

    void addWatch(WatchKind kind, String path, Consumer<NodeEvent> watch) {
        if (!state.isFinal()) {
            watches.add(kind, path, watch);
        }
    }

    /** Makes a watch silent: it still fires once, but its watcher is not called. */
    void silence(Consumer<NodeEvent> watch) {
        silenced.add(watch);
    }

    void forget(String path, Consumer<NodeEvent> watch) {
        watches.remove(path, watch);
        silenced.remove(watch);
    }

    /**
     * Returns a request that sets all watches on a new connection, whose server then reports what the client has
     * missed.
     */
    private SentRequest<Integer> setWatchesAgain() {
        long seen = lastZxid;
        List<String> data = inAnyOrder(watches.paths(WatchKind.DATA));
        List<String> children = inAnyOrder(watches.paths(WatchKind.CHILDREN));
        return SentRequest.ownRead(
                "set watches again",
                (server, asker) -> {
                    data.forEach(path -> server.watchAgain(WatchKind.DATA, path, seen, asker));
                    children.forEach(path -> server.watchAgain(WatchKind.CHILDREN, path, seen, asker));
                    return Answer.ok(data.size() + children.size());
                },
                answer -> {});
    }

    /**
     * Shuffles paths: ZooKeeper's client names its watches in the order of a hash table, and the server answers them
     * one after the other.
     */
    private List<String> inAnyOrder(Set<String> paths) {
        List<String> order = new ArrayList<>(paths);
        for (int i = 0; i < order.size() - 1; i++) {
            Collections.swap(order, i, i + simulation.choices().next(order.size() - i));
        }
        return order;
    }

    /** Closes the session, and tells the server if there is a connection. Waits for nothing. */
    void close() {
        if (state.isFinal()) {
            return;
        }
        Connection last = connection;
        connection = null;
        if (last != null && state == State.CONNECTED) {
            long ending = sessionId;
            last.send(SentRequest.ownWrite(
                            "close session",
                            draft -> {
                                draft.deleteAllOf(ending);
                                return Answer.ok(ending);
                            },
                            answer -> {})
                    .endingTheSession());
            last.closeAfterwards();
        } else if (last != null) {
            last.closeByClient();
        }
        tell("closes the handle");
        state = State.CLOSED;
        failAll(Code.SESSIONEXPIRED);
        watches.clear();
    }

    /** The unanswered requests of a session: the sent ones, and those that wait for a connection. */
    private static final class PendingRequests {
        private final Deque<SentRequest<?>> unsent = new ArrayDeque<>();
        private final Deque<SentRequest<?>> unanswered = new ArrayDeque<>();

        /** Keeps a request until there is a connection. */
        void keep(SentRequest<?> request) {
            unsent.add(request);
        }

        /** Removes and returns the requests that wait for a connection. */
        List<SentRequest<?>> unsent() {
            List<SentRequest<?>> taken = List.copyOf(unsent);
            unsent.clear();
            return taken;
        }

        void onSent(SentRequest<?> request) {
            unanswered.add(request);
        }

        void onAnswered(SentRequest<?> request) {
            unanswered.remove(request);
        }

        /** Removes and returns all requests: the sent ones first, then those that wait for a connection. */
        List<SentRequest<?>> all() {
            List<SentRequest<?>> taken = new ArrayList<>(unanswered);
            unanswered.clear();
            taken.addAll(unsent());
            return taken;
        }
    }
}
