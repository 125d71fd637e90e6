// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One connection of a client through the proxy: two sockets and a stream for each direction. */
final class ProxyConnection {
    private static final Logger LOG = LoggerFactory.getLogger(ProxyConnection.class);
    private static final int CONNECT_LIMIT_MILLIS = 2_000;

    private final ProxyControls controls;
    private final Socket client;
    private final Socket server = new Socket();
    private final Consumer<ProxyConnection> whenClosed;
    private final PendingReplies pending = new PendingReplies();
    private final ProxyStream requests;
    private final ProxyStream replies;

    @GuardedBy("this")
    private boolean closed;

    ProxyConnection(ProxyControls controls, Socket client, Consumer<ProxyConnection> whenClosed) {
        this.controls = controls;
        this.client = client;
        this.whenClosed = whenClosed;
        this.requests = new ProxyStream(true, controls, new Requests());
        this.replies = new ProxyStream(false, controls, new Replies());
    }

    /** Connects to the server and starts the four threads; returns at once. */
    void open(InetSocketAddress target, Executor threads) {
        threads.execute(() -> whileOpen("connecting to " + target, () -> {
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            server.connect(target, CONNECT_LIMIT_MILLIS);
            threads.execute(() -> untilEnd("forwarding requests", () -> requests.drain(server.getOutputStream())));
            threads.execute(() -> whileOpen("reading replies", () -> replies.fill(server.getInputStream())));
            threads.execute(() -> untilEnd("forwarding replies", () -> replies.drain(client.getOutputStream())));
            requests.fill(client.getInputStream());
        }));
    }

    /** A way out: when it ends, for whatever reason, nothing more gets through and the connection is over. */
    private void untilEnd(String what, Step step) {
        whileOpen(what, step);
        close();
    }

    private void whileOpen(String what, Step step) {
        try {
            step.run();
        } catch (IOException e) {
            // No warning: peers that vanish are the daily bread of this class.
            LOG.debug("connection of {} ended while {}", client, what, e);
            close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close();
        } catch (RuntimeException | Error e) {
            LOG.warn("connection of {} ended while {}; this is an error of the proxy", client, what, e);
            close();
        }
    }

    void obey() {
        requests.obey();
        replies.obey();
    }

    /** Drops the connection: what is under way in either direction is lost. */
    void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        requests.close();
        replies.close();
        closeQuietly(server);
        closeQuietly(client);
        pending.giveUp();
        whenClosed.accept(this);
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("could not close {}", socket, e);
        }
    }

    /** Loses a packet and perhaps the connection, then tells those that asked for it. */
    private boolean lose(PacketVerdict verdict) {
        boolean goesOn = verdict.fate() == PacketVerdict.Fate.LOSE;
        if (!goesOn) {
            close();
        }
        verdict.dropped().forEach(Signal::give);
        return goesOn;
    }

    private static void write(Frame frame, OutputStream to) throws IOException {
        to.write(frame.bytes().array());
        to.flush();
    }

    private final class Requests implements ProxyStream.PacketHandler {
        @Override
        public PacketVerdict judge(Frame frame, boolean first) {
            RequestType type = frame.requestType(first);
            List<FaultRule> onRequest = new ArrayList<>();
            List<FaultRule> onReply = new ArrayList<>();
            for (FaultRule rule : controls.rules.onRequest(type)) {
                (rule.kind().isOnRequest() ? onRequest : onReply).add(rule);
            }
            pending.sent(first ? PendingReplies.CONNECT_XID : frame.xid(), onReply);
            return PacketVerdict.of(onRequest);
        }

        @Override
        public boolean carryOut(PacketVerdict verdict, Frame frame, boolean first, OutputStream to) throws IOException {
            if (verdict.fate() != PacketVerdict.Fate.FORWARD) {
                return lose(verdict);
            }
            controls.requestsSeen.add(frame.requestType(first));
            write(frame, to);
            return true;
        }
    }

    private final class Replies implements ProxyStream.PacketHandler {
        @Override
        public PacketVerdict judge(Frame frame, boolean first) {
            if (first) {
                return PacketVerdict.of(pending.answered(PendingReplies.CONNECT_XID));
            }
            int xid = frame.xid();
            return PacketVerdict.of(xid == Frame.EVENT_XID ? controls.rules.onEvent() : pending.answered(xid));
        }

        @Override
        public boolean carryOut(PacketVerdict verdict, Frame frame, boolean first, OutputStream to) throws IOException {
            if (verdict.fate() != PacketVerdict.Fate.FORWARD) {
                return lose(verdict);
            }
            write(frame, to);
            return true;
        }
    }

    private interface Step {
        void run() throws IOException, InterruptedException;
    }

    /**
     * The requests of one connection that were forwarded and not answered, with the faults that wait for their replies.
     * A reply names its request by {@code xid}; pings and their like share one, and are answered in order. Thread-safe.
     */
    private static final class PendingReplies {
        /** Stands for the connect request, which has no {@code xid}; no client uses this one. */
        static final int CONNECT_XID = Integer.MIN_VALUE;

        private final Map<Integer, Deque<List<FaultRule>>> pending = new HashMap<>();

        /** To be called before the request goes out, or the reply may be faster. */
        synchronized void sent(int xid, List<FaultRule> onReply) {
            pending.computeIfAbsent(xid, key -> new ArrayDeque<>()).add(onReply);
        }

        synchronized List<FaultRule> answered(int xid) {
            Deque<List<FaultRule>> sameXid = pending.get(xid);
            if (sameXid == null) {
                return List.of();
            }
            List<FaultRule> rules = sameXid.remove();
            if (sameXid.isEmpty()) {
                pending.remove(xid);
            }
            return rules;
        }

        /** The connection is gone: no reply will come any more. */
        void giveUp() {
            List<FaultRule> lost = new ArrayList<>();
            synchronized (this) {
                pending.values().forEach(sameXid -> sameXid.forEach(lost::addAll));
                pending.clear();
            }
            lost.forEach(rule -> rule.signal().giveUp("the connection ended before the reply came"));
        }
    }
}
