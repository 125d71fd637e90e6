// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.common.util.concurrent.Uninterruptibles;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One connection of a client through the proxy: two sockets and a stream for each direction. */
final class ProxyConnection {
    private static final Logger LOG = LoggerFactory.getLogger(ProxyConnection.class);
    private static final int CONNECT_LIMIT_MILLIS = 2_000;

    private static final Duration RETRY = Duration.ofMillis(20);
    /** A server of an ensemble begins to listen a moment after the others have heard that it leads. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ProxyControls controls;
    private final Socket client;
    private final Consumer<ProxyConnection> whenClosed;
    private final PendingReplies pending = new PendingReplies();
    private final ProxyStream requests;
    private final ProxyStream replies;

    @GuardedBy("this")
    private @Nullable Socket server;

    @GuardedBy("this")
    private boolean closed;

    ProxyConnection(ProxyControls controls, Socket client, Consumer<ProxyConnection> whenClosed) {
        this.controls = controls;
        this.client = client;
        this.whenClosed = whenClosed;
        this.requests = new ProxyStream(true, controls, this);
        this.replies = new ProxyStream(false, controls, this);
    }

    /** Connects to the server and starts the four threads; returns at once. */
    void open(InetSocketAddress target, Executor threads) {
        threads.execute(() -> whileOpen("connecting to " + target, () -> {
            client.setTcpNoDelay(true);
            // Now, as a socket that is closed meanwhile gives no streams, and its end has to go through the line.
            InputStream fromClient = client.getInputStream();
            OutputStream toClient = client.getOutputStream();
            if (controls.isRaw) {
                requests.awaitOpen();
            }
            Socket connected = connect(target);
            threads.execute(() -> untilEnd("forwarding requests", () -> requests.drain(connected.getOutputStream())));
            threads.execute(() -> whileOpen("reading replies", () -> replies.fill(connected.getInputStream())));
            threads.execute(() -> untilEnd("forwarding replies", () -> replies.drain(toClient)));
            requests.fill(fromClient);
        }));
    }

    private Socket connect(InetSocketAddress target) throws IOException {
        long end = System.nanoTime() + (controls.isRaw ? RETRY_NANOS : 0);
        while (true) {
            Socket socket = new Socket();
            try {
                socket.setTcpNoDelay(true);
                socket.connect(target, CONNECT_LIMIT_MILLIS);
                keep(socket);
                return socket;
            } catch (IOException e) {
                socket.close();
                if (isClosed() || System.nanoTime() - end >= 0) {
                    throw e;
                }
                Uninterruptibles.sleepUninterruptibly(RETRY);
            }
        }
    }

    private synchronized void keep(Socket socket) throws IOException {
        if (closed) {
            throw new IOException("the connection was closed meanwhile");
        }
        server = socket;
    }

    private synchronized boolean isClosed() {
        return closed;
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

    /** Ends the client's side. The server learns of it when the line is open and everything before it came through. */
    void hangUp() {
        closeQuietly(client);
    }

    /** Drops the connection: what is under way in either direction is lost. */
    void close() {
        Socket connected;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            connected = server;
        }
        requests.close();
        replies.close();
        if (connected != null) {
            closeQuietly(connected);
        }
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

    /** The faults whose packet this is. Called once for each packet of a direction, in their order. */
    List<Fault> faultsOf(boolean request, Frame frame, boolean first) {
        if (controls.isRaw) {
            return List.of();
        }
        int xid = first ? PendingReplies.CONNECT_XID : frame.xid();
        if (request) {
            List<Fault> faults = controls.matching(frame.requestType(first));
            pending.sent(
                    xid,
                    faults.stream().filter(fault -> !fault.kind().isOnRequest()).toList());
            return faults.stream().filter(fault -> fault.kind().isOnRequest()).toList();
        }
        return xid == Frame.EVENT_XID ? controls.matching(null) : pending.answered(xid);
    }

    /** Loses a packet, and the connection unless it is an event, then tells those that asked for it. */
    boolean lose(List<Fault> losses) {
        boolean goesOn = losses.stream().allMatch(fault -> fault.kind() == Fault.Kind.DROP_EVENT);
        if (!goesOn) {
            close();
        }
        losses.forEach(Fault::fire);
        return goesOn;
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

        private final Map<Integer, Deque<List<Fault>>> pending = new HashMap<>();

        /** To be called before the request goes out, or the reply may be faster. */
        synchronized void sent(int xid, List<Fault> onReply) {
            pending.computeIfAbsent(xid, key -> new ArrayDeque<>()).add(onReply);
        }

        synchronized List<Fault> answered(int xid) {
            Deque<List<Fault>> sameXid = pending.get(xid);
            if (sameXid == null) {
                return List.of();
            }
            List<Fault> faults = sameXid.remove();
            if (sameXid.isEmpty()) {
                pending.remove(xid);
            }
            return faults;
        }

        /** The connection is gone: no reply will come any more. */
        void giveUp() {
            List<Fault> lost = new ArrayList<>();
            synchronized (this) {
                pending.values().forEach(sameXid -> sameXid.forEach(lost::addAll));
                pending.clear();
            }
            lost.forEach(fault -> fault.giveUp("the connection ended before the reply came"));
        }
    }
}
