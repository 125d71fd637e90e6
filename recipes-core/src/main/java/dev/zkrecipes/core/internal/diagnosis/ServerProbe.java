// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.diagnosis;

import com.google.common.base.Throwables;
import com.google.common.net.HostAndPort;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.internal.zk.TlsSettings;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSocket;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception.SSLContextException;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what is at the addresses of a connect string: asks as an operator would, for ZooKeeper's {@code srvr}, and
 * shakes hands by TLS. It opens no session. Blocks for a few seconds at most, but for the name service.
 */
final class ServerProbe {
    private static final int MOST_SERVERS = 3;
    private static final int CONNECT_MILLIS = 2000;
    private static final int ANSWER_MILLIS = 1000;
    private static final int HANDSHAKE_MILLIS = 5000;
    private static final int LONGEST_ANSWER = 60;
    private static final byte[] QUESTION = "srvr".getBytes(StandardCharsets.US_ASCII);
    /** A whole line for servers of other kinds, most of which answer it. */
    private static final byte[] END_OF_LINE = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private static final String VERSION = "Zookeeper version: ";
    /** What the answer of a server contains that does not allow this command. */
    private static final String NOT_ALLOWED = "whitelist";

    private static final String NOT_SERVING = "not currently serving";
    /** The first byte of a TLS answer to a peer that does not speak TLS. */
    private static final char TLS_ALERT = 0x15;
    /** A server over its limit accepts a connection and closes it, without a word to the client. */
    private static final String LIMIT =
            "probably it has as many connections of this machine as it allows (maxClientCnxns, 60 unless"
                    + " set), or in all (maxCnxns): close some, or raise the limit";

    private static final String CLOSES = "closes";
    private static final String RESETS = "resets";
    private static final String WAITS = "";

    private final List<HostAndPort> servers;
    private final @Nullable ZKClientConfig tls;
    private volatile @Nullable Socket open;
    private volatile boolean closed;

    /** What a server said, which may be nothing, and what it does with the connection then. */
    private record Reply(String text, String then) {
        boolean isOfZooKeeper() {
            return text.startsWith(VERSION) || text.contains(NOT_ALLOWED);
        }

        boolean isOfNoMajority() {
            return text.contains(NOT_SERVING);
        }
    }

    /** What was found out. It is no trouble if the client just has no session yet. */
    record Finding(String text, boolean isTrouble, @Nullable Throwable cause) {
        static Finding trouble(String text) {
            return new Finding(text, true, null);
        }

        static Finding noSessionYet(String text) {
            return new Finding(text, false, null);
        }
    }

    ServerProbe(List<HostAndPort> servers, @Nullable ZKClientConfig config) {
        this.servers = servers.subList(0, Math.min(MOST_SERVERS, servers.size()));
        this.tls = config != null && TlsSettings.isOn(config) ? config : null;
    }

    /** Ends what blocks. Any thread. */
    void close() {
        closed = true;
        Socket asking = open;
        if (asking != null) {
            try {
                asking.close();
            } catch (IOException e) {
                // It is of no use any more, however it ends.
            }
        }
    }

    Finding run() {
        List<Finding> all = servers.stream().map(this::findingAt).toList();
        return new Finding(
                all.stream().map(Finding::text).collect(Collectors.joining("; ")),
                all.stream().anyMatch(Finding::isTrouble),
                all.stream()
                        .map(Finding::cause)
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null));
    }

    private Finding findingAt(HostAndPort server) {
        try {
            Reply reply = ask(server);
            if (closed) {
                return Finding.noSessionYet("not asked any more");
            }
            return tls == null ? onPlain(server, reply) : onTls(server, reply, tls);
        } catch (IOException | RuntimeException e) {
            return new Finding(unreachable(server, e), true, e);
        }
    }

    private static String unreachable(HostAndPort server, Exception why) {
        if (why instanceof UnknownHostException) {
            return "the host name of " + server + " is unknown: check its spelling and the name service";
        } else if (why instanceof ConnectException) {
            return server + " refuses connections, so nothing listens there: check the port, and that the server runs";
        } else if (why instanceof SocketTimeoutException) {
            return server + " did not answer within " + CONNECT_MILLIS
                    + " ms: check the address, and the firewalls on the way";
        }
        return server + " cannot be reached: " + Printable.of(String.valueOf(why));
    }

    private static Finding onPlain(HostAndPort server, Reply reply) {
        String answer = reply.text();
        if (reply.isOfZooKeeper()) {
            return Finding.noSessionYet(
                    "a ZooKeeper server answers at " + server + ", and this client has no session of it yet");
        } else if (reply.isOfNoMajority()) {
            return Finding.trouble(
                    server + " runs but serves no clients: its ensemble has no majority; check the other servers");
        } else if (!answer.isEmpty() && answer.charAt(0) != TLS_ALERT) {
            return Finding.trouble(server + " is not a ZooKeeper server: it answers \""
                    + Printable.of(answer.lines().findFirst().orElse("")) + "\"; check the port");
        } else if (speaksTls(server)) {
            return Finding.trouble(
                    server + " speaks TLS, and this client does not: set zookeeper.client.secure and the key"
                            + " and trust stores in the clientConfig");
        } else if (!reply.then().equals(WAITS)) {
            return Finding.trouble(server + " " + reply.then() + " each connection at once: if it is a proxy, a"
                    + " tunnel or a forwarded port, check that the server behind it runs; if it is the server itself, "
                    + LIMIT);
        }
        return Finding.trouble(server + " accepts connections but does not answer: it is paused, overloaded, or not a"
                + " ZooKeeper server; check the port and the server");
    }

    private static Finding onTls(HostAndPort server, Reply reply, ZKClientConfig config) {
        if (reply.isOfZooKeeper() || reply.isOfNoMajority()) {
            return Finding.trouble(
                    server + " speaks ZooKeeper without TLS, and this client uses TLS: use the server's port"
                            + " for TLS, or unset zookeeper.client.secure");
        }
        return handshakeTrouble(config, server)
                .map(trouble -> Finding.trouble(server + ": " + trouble
                        + "; the server must trust the certificate in the key store, and the trust store the server's"))
                .orElseGet(() -> Finding.noSessionYet(
                        "a TLS handshake with " + server + " succeeds, and this client has no session yet"));
    }

    private Reply ask(HostAndPort server) throws IOException {
        InetSocketAddress address = new InetSocketAddress(server.getHost(), server.getPort());
        if (address.isUnresolved()) {
            throw new UnknownHostException(server.getHost());
        }
        try (Socket socket = new Socket()) {
            open = socket;
            if (closed) {
                return new Reply("", WAITS);
            }
            try {
                socket.connect(address, CONNECT_MILLIS);
                socket.setSoTimeout(ANSWER_MILLIS);
                socket.getOutputStream().write(QUESTION);
                Reply reply = read(socket.getInputStream());
                if (reply.text().isEmpty() && reply.then().equals(WAITS)) {
                    socket.getOutputStream().write(END_OF_LINE);
                    reply = read(socket.getInputStream());
                }
                return reply;
            } catch (IOException e) {
                String message = String.valueOf(e.getMessage()); // it may be reset before this side sees it accepted
                if (socket.isConnected() || message.contains("reset") || message.contains("Broken pipe")) {
                    return new Reply("", RESETS);
                }
                throw e;
            }
        }
    }

    private static Reply read(InputStream in) throws IOException {
        byte[] answer = new byte[LONGEST_ANSWER];
        try {
            int length = in.readNBytes(answer, 0, answer.length);
            return new Reply(new String(answer, 0, length, StandardCharsets.ISO_8859_1), CLOSES);
        } catch (SocketTimeoutException e) {
            return new Reply(new String(answer, StandardCharsets.ISO_8859_1).replace("\0", ""), WAITS);
        }
    }

    // ---- By TLS.

    /** What goes wrong in a handshake as ZooKeeper's client would have it; empty if nothing does. */
    private static Optional<String> handshakeTrouble(ZKClientConfig config, HostAndPort server) {
        try (ClientX509Util util = new ClientX509Util();
                SSLSocket socket = connectByTls(util.createSSLContext(config), server, HANDSHAKE_MILLIS)) {
            if (config.getBoolean(util.getSslHostnameVerificationEnabledProperty(), true)) {
                SSLParameters parameters = socket.getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
                socket.setSSLParameters(parameters);
            }
            socket.startHandshake();
            return troubleAfterwards(socket);
        } catch (SocketTimeoutException e) {
            return Optional.of("the TLS handshake was not answered within " + HANDSHAKE_MILLIS + " ms");
        } catch (SSLException e) {
            String limit = isEnd(e) ? "; " + LIMIT : "";
            return Optional.of("the TLS handshake failed: " + TlsSettings.reason(e) + limit);
        } catch (SocketException e) {
            return Optional.of("the connection broke in the TLS handshake: " + TlsSettings.reason(e) + "; " + LIMIT);
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
    private static boolean speaksTls(HostAndPort server) {
        try (SSLSocket socket = connectByTls(SSLContext.getDefault(), server, HANDSHAKE_MILLIS / 5)) {
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

    private static SSLSocket connectByTls(SSLContext context, HostAndPort server, int answerMillis) throws IOException {
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket();
        socket.connect(new InetSocketAddress(server.getHost(), server.getPort()), HANDSHAKE_MILLIS);
        socket.setSoTimeout(answerMillis);
        return socket;
    }
}
