// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.common.util.concurrent.Uninterruptibles;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * A TCP proxy between ZooKeeper clients and one server. It understands enough of the protocol to lose, hold and delay
 * single packets. Give {@link #connectString()} to the client instead of the server's connect string.
 *
 * <pre>{@code
 * try (FaultProxy proxy = FaultProxy.to(server)) {
 *     ZooKeeper zooKeeper = new ZooKeeper(proxy.connectString(), 5_000, event -> {});
 *     Fault lost = proxy.dropReply(RequestType.CREATE, 1);
 *     zooKeeper.create("/a", ...);           // ConnectionLoss, though the node is there
 *     lost.awaitFired(Duration.ofSeconds(5));
 * }
 * }</pre>
 *
 * <p>A fault for a single packet counts the requests of one type that are forwarded after the call, over all
 * connections; the first is number 1. Each fault happens once: arm it again for a second time, or arm number 1 and
 * number 2 together. If several faults meet in one packet, the packet is held first and then lost. A client that
 * loses its connection reconnects after up to 1 s. A closed proxy accepts no faults.
 *
 * <p>The server may be stopped and restarted behind the proxy. While it is down, the proxy accepts connections and
 * closes them at once. TLS and four-letter commands cannot pass through the proxy.
 *
 * <p>Instances are thread-safe. All threads are daemons and have ended when {@link #close()} returns.
 */
public final class FaultProxy implements AutoCloseable {
    private final InetSocketAddress target;
    private final LoopbackPort port;
    private final ProxyControls controls;
    private final KitThreads threads;
    private final Set<ProxyConnection> connections = ConcurrentHashMap.newKeySet();

    /** Null while the proxy refuses connections. */
    @GuardedBy("this")
    private @Nullable ServerSocket socket;

    /** Reaches zero when the thread that accepts from {@link #socket} has ended. */
    @GuardedBy("this")
    private CountDownLatch ended = new CountDownLatch(0);

    @GuardedBy("this")
    private boolean closed;

    private FaultProxy(InetSocketAddress target, boolean isRaw) throws IOException {
        this.target = target;
        this.controls = new ProxyControls(isRaw);
        this.port = LoopbackPort.reserve();
        this.threads = new KitThreads("fault-proxy-" + port.number());
    }

    /**
     * Starts a proxy in front of an embedded server, which need not be running.
     *
     * @param server the server
     * @return the proxy, which accepts connections
     * @throws UncheckedIOException if the proxy cannot listen
     */
    public static FaultProxy to(EmbeddedZooKeeper server) {
        return to("127.0.0.1", Objects.requireNonNull(server, "server").port());
    }

    /**
     * Starts a proxy in front of any server on this machine.
     *
     * @param host a name or address of the loopback interface, so that no test reaches another machine by mistake
     * @param serverPort the port of the server
     * @return the proxy, which accepts connections
     * @throws IllegalArgumentException if the host is not on the loopback interface of this machine
     * @throws UncheckedIOException if the proxy cannot listen
     */
    public static FaultProxy to(String host, int serverPort) {
        try {
            InetAddress address = InetAddress.getByName(Objects.requireNonNull(host, "host"));
            if (!address.isLoopbackAddress()) {
                throw new IllegalArgumentException(host + " is not a loopback address");
            }
            return open(new InetSocketAddress(address, serverPort), false);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("unknown host " + host, e);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a proxy", e);
        }
    }

    /**
     * Starts a wire between two processes that can be cut silently. It carries the bytes of any protocol. While the
     * wire is {@linkplain #pause paused}, nothing passes, not even a new connection or the end of one. So each side
     * still believes that it is connected to the other, as it does when a switch drops packets.
     */
    static FaultProxy wire(int targetPort) throws IOException {
        return open(new InetSocketAddress(LoopbackPort.loopback(), targetPort), true);
    }

    private static FaultProxy open(InetSocketAddress target, boolean isRaw) throws IOException {
        FaultProxy proxy = new FaultProxy(target, isRaw);
        proxy.accept();
        return proxy;
    }

    /** {@return the connect string for a client, {@code 127.0.0.1:port}} */
    public String connectString() {
        return port.connectString();
    }

    /** {@return the proxy's own port} */
    public int port() {
        return port.number();
    }

    /**
     * Silently holds back everything in both directions: connections stay open, new ones are accepted, and nothing is
     * lost. When this method returns, nothing is forwarded any more.
     */
    public void pause() {
        pauseRequests();
        pauseReplies();
    }

    /** Holds back everything that clients send, as {@link #pause()} does; replies and events still pass. */
    public void pauseRequests() {
        controls.requestsPaused = true;
        obey();
    }

    /** Holds back everything that the server sends, as {@link #pause()} does; requests still pass. */
    public void pauseReplies() {
        controls.repliesPaused = true;
        obey();
    }

    /** Ends every pause and forwards what was held back. {@link Held} packets stay where they are. */
    public void resume() {
        controls.requestsPaused = false;
        controls.repliesPaused = false;
        obey();
    }

    /**
     * Pauses the proxy and closes the client's side of every connection. The server does not notice before the pause
     * ends.
     */
    void hangUp() {
        pause();
        connections.forEach(ProxyConnection::hangUp);
    }

    /**
     * Drops all connections, with everything that is in flight. Whether new connections are accepted does not change.
     */
    public void cut() {
        connections.forEach(ProxyConnection::close);
    }

    /** Drops all connections and refuses new ones until {@link #accept()}, as if the server were down. */
    public synchronized void refuse() {
        ServerSocket closing = socket;
        if (closing == null) {
            return;
        }
        try {
            closing.close();
            socket = null;
            cut(); // before the wait below, which may take a while
            // While a thread still waits for clients, the operating system keeps listening even on a closed socket.
            Uninterruptibles.awaitUninterruptibly(ended);
            cut(); // connections that were accepted while the proxy was closing
            port.hold();
            awaitRefusal();
        } catch (IOException e) {
            throw new UncheckedIOException(this + " cannot stop listening", e);
        }
    }

    /**
     * Waits until connections are really refused. A process that is just being started shares the open sockets of
     * this one for a moment, and until it closes its copies, the operating system keeps listening.
     */
    private void awaitRefusal() throws IOException {
        for (int tries = 1; port.isListenedOn(); tries++) {
            if (tries == 1_000) {
                throw new IOException("somebody else listens on " + port.connectString());
            }
            Uninterruptibles.sleepUninterruptibly(Duration.ofMillis(5));
        }
    }

    /**
     * Accepts new connections again after {@link #refuse()}.
     *
     * @throws IllegalStateException if the proxy is closed
     * @throws UncheckedIOException if it cannot listen
     */
    public synchronized void accept() {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
        if (socket != null) {
            return;
        }
        try {
            ServerSocket opened = port.listen(LoopbackPort::listenOn);
            CountDownLatch endOfThis = new CountDownLatch(1);
            threads.execute(() -> acceptFrom(opened, endOfThis));
            socket = opened;
            ended = endOfThis;
        } catch (IOException e) {
            throw new UncheckedIOException(this + " cannot listen", e);
        }
    }

    private void acceptFrom(ServerSocket from, CountDownLatch end) {
        try {
            while (true) {
                ProxyConnection connection = new ProxyConnection(controls, from.accept(), connections::remove);
                connections.add(connection);
                connection.open(target, threads);
            }
        } catch (IOException e) {
            // Closing the socket ends this loop.
        } finally {
            end.countDown();
        }
    }

    /** Makes all connections read the controls again. */
    private void obey() {
        connections.forEach(ProxyConnection::obey);
    }

    /**
     * Delays every packet by this much, in both directions. Packets that are sent in close succession also arrive in
     * close succession; a request and its reply together take twice the delay. Packets in flight are delayed, too.
     *
     * @param oneWay the delay; {@link Duration#ZERO} for none
     * @throws IllegalArgumentException if the delay is negative
     */
    public void latency(Duration oneWay) {
        if (oneWay.isNegative()) {
            throw new IllegalArgumentException("a latency cannot be negative: " + oneWay);
        }
        controls.latencyNanos = oneWay.toNanos();
        obey();
    }

    /**
     * Cuts the connection instead of forwarding a request, so that the server never receives it.
     *
     * @param type the type of the request
     * @param nth the number of the request, counted from 1 and from this call on
     * @return the fault
     */
    public Fault dropRequest(RequestType type, int nth) {
        return arm(Fault.Kind.DROP_REQUEST, type, nth, "the loss of request " + nth + " of type " + type);
    }

    /**
     * Forwards a request, but cuts the connection instead of forwarding the reply: the server has applied the
     * request, and the client does not know. Everything that the server sends after that reply is lost, too.
     *
     * @param type the type of the request
     * @param nth the number of the request, counted from 1 and from this call on
     * @return the fault
     */
    public Fault dropReply(RequestType type, int nth) {
        return arm(Fault.Kind.DROP_REPLY, type, nth, "the loss of the reply to request " + nth + " of type " + type);
    }

    /**
     * Stops the requests of a connection just before one of them is forwarded.
     *
     * @param type the type of the request
     * @param nth the number of the request, counted from 1 and from this call on
     * @return the held packet, to be released
     */
    public Held holdRequest(RequestType type, int nth) {
        return hold(Fault.Kind.HOLD_REQUEST, type, nth, "request " + nth + " of type " + type);
    }

    /**
     * Stops the replies and events of a connection just before the reply to a request is forwarded. The server has
     * applied the request by then.
     *
     * @param type the type of the request
     * @param nth the number of the request, counted from 1 and from this call on
     * @return the held packet, to be released
     */
    public Held holdReply(RequestType type, int nth) {
        return hold(Fault.Kind.HOLD_REPLY, type, nth, "the reply to request " + nth + " of type " + type);
    }

    /** {@return the number of open connections from clients} */
    public int connections() {
        return connections.size();
    }

    /** {@return the number of forwarded requests, over all connections} */
    public RequestCounts requestsSeen() {
        return controls.requestsSeen.snapshot();
    }

    /**
     * Drops all connections, gives up the faults that have not happened yet, and frees the port. Closing twice does
     * nothing.
     */
    @Override
    public synchronized void close() {
        closed = true;
        controls.close();
        refuse();
        threads.awaitEnd();
        try {
            port.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot free the port of " + this, e);
        }
    }

    @Override
    public String toString() {
        return "proxy " + connectString() + " -> " + target;
    }

    private Fault arm(Fault.Kind kind, RequestType type, int nth, String what) {
        Fault fault = new Fault(kind, type, nth, what, controls);
        controls.arm(fault);
        return fault;
    }

    private Held hold(Fault.Kind kind, RequestType type, int nth, String what) {
        return new Held(arm(kind, type, nth, what), this::obey);
    }
}
