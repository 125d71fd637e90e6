// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A port of 127.0.0.1 that stays reserved while nothing listens on it. The operating system chooses it, unless a number
 * is given.
 *
 * <p>The port of a stopped server lies in the range from which the operating system assigns ephemeral ports. If it were
 * not reserved, another server could get it. Or a client that keeps connecting to the dead port could get it as its own
 * local port, and be connected to itself. A socket that is bound but neither listens nor connects keeps the port:
 * connections to it are refused, but a listener with address reuse may still bind. On systems where it may not, this
 * class releases the port just before the listener binds.
 */
final class LoopbackPort implements AutoCloseable {
    private static final int TRIES = 250;
    private static final long PAUSE_NANOS = 20_000_000;

    private final InetSocketAddress address;
    private @Nullable Socket placeholder; // keeps the port; null while something else may listen

    private LoopbackPort(Socket placeholder) {
        this.placeholder = placeholder;
        this.address = new InetSocketAddress(loopback(), placeholder.getLocalPort());
    }

    /** Reserves a free port. */
    static LoopbackPort reserve() throws IOException {
        return reserve(0);
    }

    /**
     * Reserves a port.
     *
     * @param number the port; 0 for any free port
     * @throws BindException if another process has it
     */
    static LoopbackPort reserve(int number) throws IOException {
        return new LoopbackPort(placeholderOn(new InetSocketAddress(loopback(), number)));
    }

    static InetAddress loopback() {
        try {
            return InetAddress.getByAddress("127.0.0.1", new byte[] {127, 0, 0, 1});
        } catch (IOException e) {
            throw new AssertionError("four bytes are an address", e);
        }
    }

    int number() {
        return address.getPort();
    }

    String connectString() {
        return "127.0.0.1:" + number();
    }

    /**
     * Runs {@code listening}, which must bind with address reuse. May call it again if it cannot bind, because a
     * process that is just being started holds a copy of a closed listener for a moment. Each call must start afresh.
     */
    synchronized <T> T listen(Listening<T> listening) throws IOException {
        for (int left = TRIES; ; left--) {
            try {
                return listening.on(address);
            } catch (BindException e) {
                if (left == 0) {
                    throw e;
                }
            }
            if (placeholder == null) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            letGo();
        }
    }

    /** Opens a plain listener, for {@link #listen}. */
    static ServerSocket listenOn(InetSocketAddress address) throws IOException {
        ServerSocket socket = new ServerSocket();
        try {
            socket.setReuseAddress(true);
            socket.bind(address);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /**
     * Makes sure that another process can listen on the port, if it allows address reuse. Call {@link #hold()} when
     * that process has ended.
     */
    void lend() throws IOException {
        listen(LoopbackPort::listenOn).close();
    }

    /** Whether something listens on the port. */
    boolean isListenedOn() {
        try (Socket probe = new Socket()) {
            probe.connect(address, 1_000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Reserves the port again, after its listener has been closed. */
    synchronized void hold() throws IOException {
        if (placeholder == null) {
            placeholder = placeholderOn(address);
        }
    }

    private synchronized void letGo() throws IOException {
        if (placeholder != null) {
            placeholder.close();
            placeholder = null;
        }
    }

    @Override
    public void close() throws IOException {
        letGo();
    }

    private static Socket placeholderOn(InetSocketAddress address) throws IOException {
        Socket socket = new Socket();
        try {
            socket.setReuseAddress(true);
            socket.bind(address);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** Opens a listener on an address. */
    interface Listening<T> {
        T on(InetSocketAddress address) throws IOException;
    }
}
