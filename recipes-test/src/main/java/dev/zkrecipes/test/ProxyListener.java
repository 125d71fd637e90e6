// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.common.util.concurrent.Uninterruptibles;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** Accepts clients on a port, or refuses them, and knows the connections that are open. Thread-safe. */
final class ProxyListener {
    private final LoopbackPort port;
    private final InetSocketAddress target;
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

    ProxyListener(LoopbackPort port, InetSocketAddress target, ProxyControls controls) {
        this.port = port;
        this.target = target;
        this.controls = controls;
        this.threads = new KitThreads("fault-proxy-" + port.number());
    }

    synchronized void accept() throws IOException {
        if (closed) {
            throw new IllegalStateException("the proxy on " + port.connectString() + " is closed");
        }
        if (socket == null) {
            ServerSocket opened = port.listen(LoopbackPort::listenOn);
            CountDownLatch endOfThis = new CountDownLatch(1);
            threads.execute(() -> acceptFrom(opened, endOfThis));
            socket = opened;
            ended = endOfThis;
        }
    }

    synchronized void refuse() throws IOException {
        if (socket != null) {
            socket.close();
            socket = null;
            cut(); // now, as the rest may take a while
            // While a thread still waits for clients, the system keeps listening even on a closed socket.
            Uninterruptibles.awaitUninterruptibly(ended);
            cut(); // those that came meanwhile, the last ones
            port.hold();
            awaitRefusal();
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

    void cut() {
        connections.forEach(ProxyConnection::close);
    }

    void hangUp() {
        connections.forEach(ProxyConnection::hangUp);
    }

    void obey() {
        connections.forEach(ProxyConnection::obey);
    }

    int connections() {
        return connections.size();
    }

    synchronized void close() throws IOException {
        closed = true;
        refuse();
        threads.awaitEnd();
        port.close();
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
}
