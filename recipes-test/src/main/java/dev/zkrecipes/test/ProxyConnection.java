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

/** One connection of a client through the proxy: two sockets, and a stream for each direction. */
final class ProxyConnection {
    private static final Logger LOG = LoggerFactory.getLogger(ProxyConnection.class);
    private static final int CONNECT_LIMIT_MILLIS = 2_000;

    private static final Duration RETRY = Duration.ofMillis(20);
    /**
     * How long to retry a connection to a server of an ensemble: a new leader begins to listen a moment after the other
     * servers have learned that it leads.
     */
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

    /** Connects to the server and starts the four threads of this connection. Returns at once. */
    void open(InetSocketAddress target, Executor threads) {
        threads.execute(() -> whileOpen("connecting to " + target, () -> {
            client.setTcpNoDelay(true);
            // The streams are taken now: a socket that is closed meanwhile would not return any, and its EOF has to go
            // through the line as well.
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

    /**
     * Runs the step that forwards one direction. When it ends, for whatever reason, nothing more gets through, so the
     * connection ends, too.
     */
    private void untilEnd(String what, Step step) {
        whileOpen(what, step);
        close();
    }

    private void whileOpen(String what, Step step) {
        try {
            step.run();
        } catch (IOException e) {
            // Not worth a warning: the purpose of this class is to make peers vanish.
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

    /** Closes the client's side. The server notices once the line is open and everything before the EOF has passed. */
    void hangUp() {
        closeQuietly(client);
    }

    /** Drops the connection: what is in flight in either direction is lost. */
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

    /** Returns the faults that apply to a packet. Must be called once for each packet of a direction, in order. */
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
        return pending.answered(xid); // there are none for an event
    }

    /** Drops a packet and, with it, the connection. Then reports that the faults have happened. */
    void lose(List<Fault> losses) {
        close();
        losses.forEach(Fault::fire);
    }

    private interface Step {
        void run() throws IOException, InterruptedException;
    }

    /**
     * The forwarded but unanswered requests of one connection, with the faults that apply to their replies. A reply
     * names its request by the {@code xid}. All pings share one {@code xid} and are answered in order; so are a few
     * other kinds of requests. Thread-safe.
     */
    private static final class PendingReplies {
        /** Stands for the connect request, which has no {@code xid}. No client uses this number. */
        static final int CONNECT_XID = Integer.MIN_VALUE;

        private final Map<Integer, Deque<List<Fault>>> pending = new HashMap<>();
        private boolean ended; // whether the connection has ended, so that there are no more replies

        /**
         * Records a request. Must be called before the request is forwarded, because the reply could otherwise arrive
         * first.
         */
        void sent(int xid, List<Fault> onReply) {
            synchronized (this) {
                if (!ended) {
                    pending.computeIfAbsent(xid, key -> new ArrayDeque<>()).add(onReply);
                    return;
                }
            }
            giveUp(onReply);
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

        /** Gives up all faults, because the connection has ended and no more replies will arrive. */
        void giveUp() {
            List<Fault> lost = new ArrayList<>();
            synchronized (this) {
                ended = true;
                pending.values().forEach(sameXid -> sameXid.forEach(lost::addAll));
                pending.clear();
            }
            giveUp(lost);
        }

        private static void giveUp(List<Fault> lost) {
            lost.forEach(fault -> fault.giveUp("the connection ended before the reply came"));
        }
    }
}
