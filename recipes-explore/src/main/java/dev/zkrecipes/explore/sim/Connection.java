// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.zookeeper.KeeperException.Code;

/**
 * A connection between a client and a server. Messages arrive in order, after a delay. When the connection breaks, some
 * of the messages in transit to the server may still arrive, but nothing more comes back. A server thread may be
 * holding one more write, which it passes on much later.
 */
final class Connection {
    private final Simulation simulation;
    private final SimulatedSession client;
    private final SimulatedServer server;
    private final Deque<SentRequest<?>> unanswered = new ArrayDeque<>(); // requests at the server, in order
    private final Deque<Sent> writes = new ArrayDeque<>(); // writes that have not arrived yet
    private long session;
    private boolean openAtClient = true;
    private boolean openAtServer = true;
    private long lastToServer; // arrival of the latest message to the server
    private long lastToClient; // arrival of the latest message to the client
    private long sent;
    private long arrived;
    private long last = Long.MAX_VALUE; // messages with this number or a higher one do not arrive
    private long stalledUntil;
    private Duration heldBack = Duration.ZERO;

    /** A write, and the number of messages that were sent before it. */
    private record Sent(SentRequest<?> write, long number) {}

    Connection(Simulation simulation, SimulatedSession client, SimulatedServer server, long session) {
        this.simulation = simulation;
        this.client = client;
        this.server = server;
        this.session = session;
    }

    SimulatedServer server() {
        return server;
    }

    long session() {
        return session;
    }

    void attach(long known) {
        session = known;
    }

    // ---- Towards the server.

    /** Sends a message; {@code arrival} runs at the server when the message arrives. */
    void toServer(Runnable arrival) {
        long number = sent++;
        lastToServer = Math.max(Math.max(lastToServer, stalledUntil), simulation.now() + simulation.lag());
        simulation.plan(lastToServer, () -> {
            arrived++;
            if (openAtServer && number < last) {
                arrival.run();
            }
        });
    }

    void send(SentRequest<?> request) {
        if (request.isWrite()) {
            writes.removeIf(write -> write.number() < arrived);
            writes.add(new Sent(request, sent));
        }
        toServer(() -> {
            server.touch(session);
            receive(request);
        });
    }

    /** Receives a request at the server. */
    void receive(SentRequest<?> request) {
        unanswered.add(request);
        if (request.isWrite()) {
            server.toLeader(() -> leaderTakes(request));
        }
        answerInOrder();
    }

    private void leaderTakes(SentRequest<?> request) {
        simulation.tell("leader", () -> "takes " + request + " of session " + session);
        client.ensemble().leader().take(request, this);
    }

    void ping() {
        toServer(() -> {
            server.touch(session);
            toClient(client::heard);
        });
    }

    // ---- Towards the client.

    /** Answers all requests that can be answered: each request waits for the requests before it. */
    void answerInOrder() {
        while (openAtServer && !unanswered.isEmpty()) {
            SentRequest<?> next = unanswered.element();
            if (!next.isWrite()) {
                next.answerBy(server, this);
            } else if (!next.isAnswered()) {
                return;
            }
            unanswered.remove();
            if (next.isRefusedAs(Code.SESSIONMOVED)) {
                closeByServer(); // no answer: the client reconnects, to the right server or with a new claim
                return;
            }
            long zxid = server.lastZxid();
            toClient(() -> client.onReply(next, zxid));
            if (next.endsSession()) {
                closeByServer();
            }
        }
    }

    void notify(String path, WatchEvent event) {
        toClient(() -> client.onWatch(path, event));
    }

    void toClient(Runnable arrival) {
        lastToClient = Math.max(Math.max(lastToClient, stalledUntil), simulation.now() + simulation.lag());
        client.scheduler().planHere(lastToClient, () -> {
            if (openAtClient) {
                arrival.run();
            }
        });
    }

    // ---- Ends.

    /**
     * Makes a server thread hold back the first write that has not arrived, for this time, if the connection breaks.
     */
    void holdBack(Duration time) {
        heldBack = time;
    }

    /** Lets nothing arrive for a while, on either side. Neither side is notified. */
    void stall(Duration time) {
        stalledUntil = Math.max(stalledUntil, simulation.now() + time.toNanos());
    }

    /** Closes the client's side. Some of the messages in transit still reach the server. */
    void closeByClient() {
        if (openAtClient) {
            openAtClient = false;
            int underWay = Math.toIntExact(sent - arrived);
            last = underWay == 0 ? sent : arrived + simulation.choices().next(underWay + 1);
            toServer(() -> {});
            simulation.plan(lastToServer, this::endAtServer);
            if (!heldBack.isZero()) {
                writes.stream()
                        .filter(write -> write.number() >= last)
                        .findFirst()
                        .ifPresent(write -> passOnLate(write.write()));
            }
        }
    }

    /** Passes a write on late. The leader refuses it if the session has moved to another server meanwhile. */
    private void passOnLate(SentRequest<?> write) {
        simulation.plan(simulation.now() + heldBack.toNanos(), () -> server.toLeader(() -> leaderTakes(write)));
    }

    /** Closes the client's side after the client has sent its last message, which closes the session. */
    void closeAfterwards() {
        openAtClient = false;
        toServer(() -> {});
        simulation.plan(lastToServer + Duration.ofSeconds(1).toNanos(), this::endAtServer);
    }

    /** Closes the connection from the server's side. The client notices when it next reads. */
    void closeByServer() {
        if (openAtServer) {
            toClient(client::onClosed);
            endAtServer();
        }
    }

    private void endAtServer() {
        openAtServer = false;
        server.closed(this);
    }
}
