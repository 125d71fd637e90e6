// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.common.util.concurrent.Uninterruptibles;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A wire between two processes of this machine that can be cut silently. It forwards bytes of any protocol, one way to
 * the target and back, and knows nothing about them.
 *
 * <p>While it is shut nothing passes, not even the end of a connection: both sides still believe in the other, as they
 * do when a switch drops packets. What was under way arrives when the gate is opened again, as TCP would have it.
 *
 * <p>Thread-safe. All threads are daemons and have ended when {@link #close()} returns.
 */
final class TcpGate implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TcpGate.class);
    /** A server begins to listen a moment after the others have heard that it leads. */
    private static final long CONNECT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final Duration RETRY = Duration.ofMillis(20);

    private final LoopbackPort port;
    private final InetSocketAddress target;
    private final ServerSocket listener;
    private final ProxyThreads threads;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    /** The sockets from which a connection was opened. */
    private final Set<Socket> callers = ConcurrentHashMap.newKeySet();

    private final Valve valve = new Valve();

    private TcpGate(LoopbackPort port, ServerSocket listener, InetSocketAddress target) {
        this.port = port;
        this.listener = listener;
        this.target = target;
        this.threads = new ProxyThreads("tcp-gate-" + port.number());
    }

    /** Opens a gate on a port that the system chooses. */
    static TcpGate to(int targetPort) throws IOException {
        LoopbackPort port = LoopbackPort.reserve();
        try {
            InetSocketAddress target = new InetSocketAddress(LoopbackPort.loopback(), targetPort);
            TcpGate gate = new TcpGate(port, port.listen(LoopbackPort::listenOn), target);
            gate.threads.execute(gate::acceptAll);
            return gate;
        } catch (IOException e) {
            port.close();
            throw e;
        }
    }

    int port() {
        return port.number();
    }

    /** Lets nothing through any more, from when this returns. */
    void shut() {
        valve.shut();
    }

    /**
     * Shuts the gate and closes the callers' connections. The callers notice; the called side notices only when the
     * gate is opened, which is when those connections end.
     */
    void hangUp() {
        shut();
        callers.forEach(TcpGate::closeQuietly);
    }

    /** Lets everything through again, first what was held back. */
    void open() {
        valve.open();
    }

    @Override
    public void close() {
        valve.close();
        try {
            listener.close();
            sockets.forEach(TcpGate::closeQuietly);
            threads.awaitEnd();
            port.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot free port " + port.number(), e);
        }
    }

    private void acceptAll() {
        try {
            while (true) {
                Socket client = listener.accept();
                threads.execute(() -> serve(client));
            }
        } catch (IOException e) {
            // Closing the socket is how this loop is ended.
        }
    }

    private void serve(Socket client) {
        sockets.add(client);
        callers.add(client);
        try (client) {
            valve.enter();
            valve.leave();
            try (Socket server = connect()) {
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                // Now, before either side can hang up: afterwards a socket gives no streams, and the other side would
                // be
                // closed.
                InputStream fromClient = client.getInputStream();
                OutputStream toClient = client.getOutputStream();
                InputStream fromServer = server.getInputStream();
                OutputStream toServer = server.getOutputStream();
                threads.execute(() -> forward(server, fromServer, client, toClient));
                forward(client, fromClient, server, toServer);
            }
        } catch (IOException | InterruptedException e) {
            LOG.debug("no connection from {} to {}", port.connectString(), target, e);
        } finally {
            callers.remove(client);
            sockets.remove(client);
        }
    }

    private Socket connect() throws IOException {
        long end = System.nanoTime() + CONNECT_NANOS;
        while (true) {
            Socket server = new Socket();
            try {
                server.connect(target);
                sockets.add(server);
                valve.requireOpen();
                return server;
            } catch (IOException e) {
                server.close();
                if (valve.isClosed() || System.nanoTime() - end >= 0) {
                    throw e;
                }
                Uninterruptibles.sleepUninterruptibly(RETRY);
            }
        }
    }

    /** Carries bytes one way until either side ends, which ends both. */
    private void forward(Socket from, InputStream in, Socket to, OutputStream out) {
        byte[] buffer = new byte[16 * 1024];
        try (from;
                to) {
            for (int count = read(in, buffer); pass(out, buffer, count); count = read(in, buffer)) {
                // all is done in the conditions
            }
        } catch (IOException | InterruptedException e) {
            LOG.debug("the connection from {} to {} broke", port.connectString(), target, e);
        } finally {
            sockets.remove(from);
            sockets.remove(to);
        }
    }

    /** A broken connection has ended; the side behind a shut gate must not notice that either. */
    private static int read(InputStream in, byte[] buffer) {
        try {
            return in.read(buffer);
        } catch (IOException e) {
            return -1;
        }
    }

    /** Returns false at the end, which has to wait at the gate like everything else. */
    private boolean pass(OutputStream out, byte[] buffer, int count) throws IOException, InterruptedException {
        valve.enter();
        try {
            if (count > 0) {
                out.write(buffer, 0, count);
            }
            return count >= 0;
        } finally {
            valve.leave();
        }
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("a socket did not close", e);
        }
    }

    /** Where the threads that carry bytes wait while nothing may pass. Thread-safe. */
    private static final class Valve {
        /** Long enough for some bytes, short enough not to hang on a peer that does not read. */
        private static final long SETTLE_NANOS = TimeUnit.SECONDS.toNanos(1);

        private final ReentrantLock lock = new ReentrantLock();
        private final Condition changed = lock.newCondition();

        @GuardedBy("lock")
        private boolean shut;

        @GuardedBy("lock")
        private boolean closed;

        /** How many threads have entered and not left yet. */
        @GuardedBy("lock")
        private int passing;

        /** Lets no thread in any more and waits a while for those that are inside. */
        void shut() {
            lock.lock();
            try {
                shut = true;
                long left = SETTLE_NANOS;
                while (passing > 0 && left > 0) {
                    left = changed.awaitNanos(left);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                lock.unlock();
            }
        }

        void open() {
            lock.lock();
            try {
                shut = false;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        /** Ends every wait, now and later, by an exception. */
        void close() {
            lock.lock();
            try {
                closed = true;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        /** Waits until the valve is open. */
        void enter() throws IOException, InterruptedException {
            lock.lock();
            try {
                while (shut && !closed) {
                    changed.await();
                }
                requireOpen();
                passing++;
            } finally {
                lock.unlock();
            }
        }

        void leave() {
            lock.lock();
            try {
                passing--;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        boolean isClosed() {
            lock.lock();
            try {
                return closed;
            } finally {
                lock.unlock();
            }
        }

        void requireOpen() throws IOException {
            if (isClosed()) {
                throw new IOException("the gate is closed");
            }
        }
    }
}
