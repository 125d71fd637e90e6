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
 * A port of 127.0.0.1 that stays ours while nothing listens on it; unless it was named, the system chose it.
 *
 * <p>A stopped server's port lies in the range from which the system serves all others, so without care another
 * server gets it, or a client that keeps knocking at the dead port is given it as its own local port and is then
 * connected to itself. A socket that is bound but neither listens nor connects keeps the port: connections to it are
 * refused, and a listener that also allows address reuse may still bind. (Systems where it may not are served by
 * letting go of the port for the moment of binding.)
 */
final class LoopbackPort implements AutoCloseable {
    private static final int TRIES = 250;
    private static final long PAUSE_NANOS = 20_000_000;

    private final InetSocketAddress address;
    private @Nullable Socket placeholder;

    private LoopbackPort(Socket placeholder) {
        this.placeholder = placeholder;
        this.address = new InetSocketAddress(loopback(), placeholder.getLocalPort());
    }

    /** Takes a free port. */
    static LoopbackPort reserve() throws IOException {
        return reserve(0);
    }

    /**
     * Takes a port.
     *
     * @param number which; 0 for one that is free
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
     * Runs {@code listening}, which must bind with address reuse and make everything anew when called again: a process
     * that is just being started has a copy of a listener that was closed, for a moment.
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

    /** A listener for {@link #listen}. */
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
     * Makes sure that another process, which allows address reuse, can listen; call {@link #hold()} when it has ended.
     */
    void lend() throws IOException {
        listen(LoopbackPort::listenOn).close();
    }

    /** Whether something listens. */
    boolean isListenedOn() {
        try (Socket probe = new Socket()) {
            probe.connect(address, 1_000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Called when the listener is closed. */
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
