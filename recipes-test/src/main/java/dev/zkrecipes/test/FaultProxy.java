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
 * A TCP proxy between ZooKeeper clients and one server that understands enough of the protocol to lose, hold and delay
 * single packets. Give {@link #connectString()} to the client instead of the server's.
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
 * <p>Faults for single packets count the requests of a type that are forwarded from the call on, over all connections;
 * the first is number 1. Each happens once; arm it again for a second one, or arm number 1 and number 2 together. If
 * several meet in one packet, it is held first and then lost. A client that loses its connection tries again after up
 * to 1 s. A closed proxy takes no faults.
 *
 * <p>The server may be stopped and restarted behind the proxy: as long as it is down, connections through the proxy are
 * accepted and closed at once. TLS and four-letter commands do not pass.
 *
 * <p>Instances are thread-safe. All threads are daemons and have ended when {@link #close()} returns.
 */
public final class FaultProxy implements AutoCloseable {
    private final InetSocketAddress target;
    private final LoopbackPort port;
    private final ProxyControls controls;
    private final KitThreads threads;
    private final Set<ProxyConnection> connections = ConcurrentHashMap.newKeySet();

    /** Null while connections are refused. */
    @GuardedBy("this")
    private @Nullable ServerSocket socket;

    /** Open when the thread that accepts from the socket has ended. */
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
     * Starts a proxy in front of an embedded server, running or not.
     *
     * @param server the server
     * @return the proxy, which accepts connections
     * @throws UncheckedIOException if it cannot listen
     */
    public static FaultProxy to(EmbeddedZooKeeper server) {
        return to("127.0.0.1", Objects.requireNonNull(server, "server").port());
    }

    /**
     * Starts a proxy in front of any server on this machine.
     *
     * @param host a name or address of the loopback interface; a test should not hit anything else by mistake
     * @param serverPort the port
     * @return the proxy, which accepts connections
     * @throws IllegalArgumentException if the host is not this machine's loopback interface
     * @throws UncheckedIOException if it cannot listen
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
     * A wire between two processes that can be cut silently: it carries bytes of any protocol. While it is {@linkplain
     * #pause paused} nothing passes, not even the end of a connection or a new one: both sides still believe in the
     * other, as they do when a switch drops packets.
     */
    static FaultProxy wire(int targetPort) throws IOException {
        return open(new InetSocketAddress(LoopbackPort.loopback(), targetPort), true);
    }

    private static FaultProxy open(InetSocketAddress target, boolean isRaw) throws IOException {
        FaultProxy proxy = new FaultProxy(target, isRaw);
        proxy.accept();
        return proxy;
    }

    /** {@return what to give to a client, {@code 127.0.0.1:port}} */
    public String connectString() {
        return port.connectString();
    }

    /** {@return the proxy's own port} */
    public int port() {
        return port.number();
    }

    /**
     * Holds back everything in both directions, silently: connections stay open, new ones are accepted, nothing is
     * lost. When this returns, nothing is forwarded any more.
     */
    public void pause() {
        pauseRequests();
        pauseReplies();
    }

    /** Holds back what clients send, as {@link #pause()}; replies and events still pass. */
    public void pauseRequests() {
        controls.requestsPaused = true;
        obey();
    }

    /** Holds back what the server sends, as {@link #pause()}; requests still pass. */
    public void pauseReplies() {
        controls.repliesPaused = true;
        obey();
    }

    /** Ends every pause: what was held back is forwarded. {@link Held} packets stay where they are. */
    public void resume() {
        controls.requestsPaused = false;
        controls.repliesPaused = false;
        obey();
    }

    /** Pauses, and ends the clients' sides of all connections. The server learns that when the pause is over. */
    void hangUp() {
        pause();
        connections.forEach(ProxyConnection::hangUp);
    }

    /** Drops all connections; what is in flight is lost. New ones are accepted, if they were before. */
    public void cut() {
        connections.forEach(ProxyConnection::close);
    }

    /** Drops all connections and refuses new ones, as if the server were down, until {@link #accept()}. */
    public synchronized void refuse() {
        ServerSocket closing = socket;
        if (closing == null) {
            return;
        }
        try {
            closing.close();
            socket = null;
            cut(); // now, as the rest may take a while
            // While a thread still waits for clients, the system keeps listening even on a closed socket.
            Uninterruptibles.awaitUninterruptibly(ended);
            cut(); // those that came meanwhile, the last ones
            port.hold();
            awaitRefusal();
        } catch (IOException e) {
            throw new UncheckedIOException(this + " cannot stop listening", e);
        }
    }

    /**
     * A process that is being started shares the open sockets for a moment, and the system listens until it lets them
     * go.
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
            // Closing the socket is how this loop is ended.
        } finally {
            end.countDown();
        }
    }

    private void obey() {
        connections.forEach(ProxyConnection::obey);
    }

    /**
     * Delays each packet by this much, in both directions. Packets that follow each other closely also arrive closely;
     * a request and its reply take twice the time. The delay also applies to packets in flight.
     *
     * @param oneWay the delay; {@link Duration#ZERO} ends it
     * @throws IllegalArgumentException if it is negative
     */
    public void latency(Duration oneWay) {
        if (oneWay.isNegative()) {
            throw new IllegalArgumentException("a latency cannot be negative: " + oneWay);
        }
        controls.latencyNanos = oneWay.toNanos();
        obey();
    }

    /**
     * Cuts the connection instead of forwarding a request: the server never hears of it.
     *
     * @param type the type of the request
     * @param nth which one from now on, 1 or more
     * @return the fault
     */
    public Fault dropRequest(RequestType type, int nth) {
        return arm(Fault.Kind.DROP_REQUEST, type, nth, "the loss of request " + nth + " of type " + type);
    }

    /**
     * Forwards a request and cuts the connection instead of forwarding its reply: the server has applied it, the client
     * does not know. What the server sends behind that reply is lost too.
     *
     * @param type the type of the request
     * @param nth which one from now on, 1 or more
     * @return the fault
     */
    public Fault dropReply(RequestType type, int nth) {
        return arm(Fault.Kind.DROP_REPLY, type, nth, "the loss of the reply to request " + nth + " of type " + type);
    }

    /**
     * Loses a watch event; the connection stays. ZooKeeper never does that: use it to show that a test would
     * notice.
     *
     * @param nth which event from now on, 1 or more
     * @return the fault
     */
    public Fault dropEvent(int nth) {
        return arm(Fault.Kind.DROP_EVENT, null, nth, "the loss of event " + nth);
    }

    /**
     * Stops the requests of a connection in front of one of them.
     *
     * @param type the type of the request
     * @param nth which one from now on, 1 or more
     * @return the packet, to be released
     */
    public Held holdRequest(RequestType type, int nth) {
        return hold(Fault.Kind.HOLD_REQUEST, type, nth, "request " + nth + " of type " + type);
    }

    /**
     * Stops the replies and events of a connection in front of the reply to a request, which the server has applied.
     *
     * @param type the type of the request
     * @param nth which request from now on, 1 or more
     * @return the packet, to be released
     */
    public Held holdReply(RequestType type, int nth) {
        return hold(Fault.Kind.HOLD_REPLY, type, nth, "the reply to request " + nth + " of type " + type);
    }

    /**
     * Stops the replies and events of a connection in front of a watch event.
     *
     * @param nth which event from now on, 1 or more
     * @return the packet, to be released
     */
    public Held holdEvent(int nth) {
        return hold(Fault.Kind.HOLD_EVENT, null, nth, "event " + nth);
    }

    /** {@return the number of open connections of clients} */
    public int connections() {
        return connections.size();
    }

    /** {@return how many requests were forwarded, over all connections} */
    public RequestCounts requestsSeen() {
        return controls.requestsSeen.snapshot();
    }

    /**
     * Drops all connections, gives up the faults that have not happened, and frees the port. Closing twice does
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

    private Fault arm(Fault.Kind kind, @Nullable RequestType type, int nth, String what) {
        Fault fault = new Fault(kind, type, nth, what, controls);
        controls.arm(fault);
        return fault;
    }

    private Held hold(Fault.Kind kind, @Nullable RequestType type, int nth, String what) {
        return new Held(arm(kind, type, nth, what), this::obey);
    }
}
