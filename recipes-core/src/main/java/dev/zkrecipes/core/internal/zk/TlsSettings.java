// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import com.google.common.base.Preconditions;
import com.google.common.base.Throwables;
import dev.zkrecipes.core.internal.wire.Printable;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.security.GeneralSecurityException;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSocket;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception.SSLContextException;

/**
 * What a ZooKeeper configuration says of TLS, and why it does not work. ZooKeeper's client logs what goes wrong and
 * keeps trying; the application only sees that it is never connected.
 */
public final class TlsSettings {
    private static final String NETTY = "ClientCnxnSocketNetty";
    private static final int LIMIT_MILLIS = 5000;

    /** The first byte of a TLS answer to a peer that does not speak TLS. */
    static final char ALERT = 0x15;

    private TlsSettings() {}

    public static boolean isOn(ZKClientConfig config) {
        return config.getBoolean(ZKClientConfig.SECURE_CLIENT);
    }

    /**
     * Refuses settings that cannot work with any server.
     *
     * @throws IllegalArgumentException if the connection would not be encrypted, or a key or trust store cannot be
     *     loaded
     */
    public static void check(ZKClientConfig config) {
        if (!isOn(config)) {
            return;
        }
        String socket = config.getProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "");
        Preconditions.checkArgument(
                socket.endsWith(NETTY),
                "%s is set, but %s is \"%s\", which does not speak TLS: set it to org.apache.zookeeper.%s",
                ZKClientConfig.SECURE_CLIENT,
                ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET,
                Printable.of(socket),
                NETTY);
        try (ClientX509Util util = new ClientX509Util()) {
            var unused = util.createSSLContext(config);
        } catch (SSLContextException e) {
            throw new IllegalArgumentException(
                    "the TLS settings cannot be used: " + reason(e)
                            + "; check the locations, types and passwords of the"
                            + " key store and the trust store (zookeeper.ssl.keyStore.*, zookeeper.ssl.trustStore.*)",
                    e);
        }
    }

    /**
     * Shakes hands with a server as ZooKeeper's client would, to find out why it cannot connect. Blocks, for a few
     * seconds at most.
     *
     * @return what went wrong; empty if nothing did
     */
    public static Optional<String> trouble(ZKClientConfig config, String host, int port) {
        try (ClientX509Util util = new ClientX509Util();
                Socket plain = new Socket()) {
            plain.connect(new InetSocketAddress(host, port), LIMIT_MILLIS);
            plain.setSoTimeout(LIMIT_MILLIS);
            try (SSLSocket socket = (SSLSocket)
                    util.createSSLContext(config).getSocketFactory().createSocket(plain, host, port, true)) {
                if (config.getBoolean(util.getSslHostnameVerificationEnabledProperty(), true)) {
                    SSLParameters parameters = socket.getSSLParameters();
                    parameters.setEndpointIdentificationAlgorithm("HTTPS");
                    socket.setSSLParameters(parameters);
                }
                socket.startHandshake();
                return troubleAfterwards(socket);
            }
        } catch (SocketTimeoutException e) {
            return Optional.of("the TLS handshake was not answered within " + LIMIT_MILLIS + " ms");
        } catch (SSLException e) {
            boolean isClosed = Throwables.getRootCause(e) instanceof EOFException;
            return Optional.of("the TLS handshake failed: " + reason(e) + (isClosed ? "; " + ServerProbe.LIMIT : ""));
        } catch (SocketException e) {
            return Optional.of("the connection broke in the TLS handshake: " + reason(e) + "; " + ServerProbe.LIMIT);
        } catch (IOException | SSLContextException | RuntimeException e) {
            return Optional.of(reason(e));
        }
    }

    /**
     * Whether a server answers a TLS handshake, whatever it thinks of this side and this side of it. Blocks, for a few
     * seconds at most.
     */
    static boolean isSpokenAt(String host, int port) {
        try (Socket plain = new Socket()) {
            plain.connect(new InetSocketAddress(host, port), LIMIT_MILLIS);
            plain.setSoTimeout(LIMIT_MILLIS / 5);
            SSLContext context = SSLContext.getDefault();
            try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, host, port, true)) {
                socket.startHandshake();
                return true;
            }
        } catch (SSLHandshakeException | SSLPeerUnverifiedException e) {
            // What came was TLS, unless nothing came at all.
            return !(Throwables.getRootCause(e) instanceof EOFException);
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            return false;
        }
    }

    /** By TLS 1.3 the server says only now what it thinks of our certificate; else it waits for us to speak. */
    private static Optional<String> troubleAfterwards(SSLSocket socket) throws IOException {
        try {
            return socket.getInputStream().read() < 0
                    ? Optional.of("the server closed the connection after the TLS handshake")
                    : Optional.empty();
        } catch (SocketTimeoutException e) {
            return Optional.empty();
        }
    }

    /**
     * The message of an error and, if it is another one, that of its first cause, such as the path that was not found.
     */
    private static String reason(Throwable error) {
        Throwable root = Throwables.getRootCause(error);
        String message = String.valueOf(error.getMessage());
        boolean complete = root == error || message.contains(String.valueOf(root.getMessage()));
        return Printable.of(complete ? message : message + " (" + root + ")");
    }
}
