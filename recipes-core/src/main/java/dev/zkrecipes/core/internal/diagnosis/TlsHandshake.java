// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.diagnosis;

import com.google.common.base.Throwables;
import com.google.common.net.HostAndPort;
import dev.zkrecipes.core.internal.zk.TlsSettings;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
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

/** Shakes hands with a server to find out why a client cannot connect. Blocks, for a few seconds at most. */
final class TlsHandshake {
    private static final int LIMIT_MILLIS = 5000;

    private TlsHandshake() {}

    /** What goes wrong in a handshake as ZooKeeper's client would have it; empty if nothing does. */
    static Optional<String> trouble(ZKClientConfig config, HostAndPort server) {
        try (ClientX509Util util = new ClientX509Util();
                SSLSocket socket = connect(util.createSSLContext(config), server, LIMIT_MILLIS)) {
            if (config.getBoolean(util.getSslHostnameVerificationEnabledProperty(), true)) {
                SSLParameters parameters = socket.getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
                socket.setSSLParameters(parameters);
            }
            socket.startHandshake();
            return troubleAfterwards(socket);
        } catch (SocketTimeoutException e) {
            return Optional.of("the TLS handshake was not answered within " + LIMIT_MILLIS + " ms");
        } catch (SSLException e) {
            String limit = isEnd(e) ? "; " + ServerProbe.LIMIT : "";
            return Optional.of("the TLS handshake failed: " + TlsSettings.reason(e) + limit);
        } catch (SocketException e) {
            return Optional.of(
                    "the connection broke in the TLS handshake: " + TlsSettings.reason(e) + "; " + ServerProbe.LIMIT);
        } catch (IOException | SSLContextException | RuntimeException e) {
            return Optional.of(TlsSettings.reason(e));
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

    /** Whether a server answers a handshake, whatever it thinks of this side and this side of it. */
    static boolean isSpokenAt(HostAndPort server) {
        try (SSLSocket socket = connect(SSLContext.getDefault(), server, LIMIT_MILLIS / 5)) {
            socket.startHandshake();
            return true;
        } catch (SSLHandshakeException | SSLPeerUnverifiedException e) {
            return !isEnd(e); // what came was TLS, unless nothing came at all
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            return false;
        }
    }

    private static boolean isEnd(SSLException error) {
        return Throwables.getRootCause(error) instanceof EOFException;
    }

    private static SSLSocket connect(SSLContext context, HostAndPort server, int answerMillis) throws IOException {
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket();
        socket.connect(new InetSocketAddress(server.getHost(), server.getPort()), LIMIT_MILLIS);
        socket.setSoTimeout(answerMillis);
        return socket;
    }
}
