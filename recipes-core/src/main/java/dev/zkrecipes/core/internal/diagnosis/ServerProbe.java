// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.diagnosis;

import com.google.common.base.Throwables;
import com.google.common.net.HostAndPort;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.internal.zk.TlsSettings;
import java.io.EOFException;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception.SSLContextException;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what answers at the addresses of a connect string. It asks as an operator would, with ZooKeeper's command
 * {@code srvr}, and makes a TLS handshake. It opens no session, so it leaves no state at the server.
 *
 * <p>A probe blocks for a few seconds at most for each address, and for as long as the name service takes. It runs on a
 * thread of its own; {@link #close} ends it early from any other.
 */
public final class ServerProbe {
    private static final int MOST_SERVERS = 3; // bounds the time of a probe and the length of the message
    private static final int MOST_ADDRESSES = 6; // of all these servers together
    private static final int CONNECT_MILLIS = 2000;
    private static final int ANSWER_MILLIS = 1000;
    private static final int HANDSHAKE_MILLIS = 5000;
    private static final int LONGEST_ANSWER = 8 << 10; // in bytes; the rest is ignored
    private static final String QUESTION = "srvr";
    /**
     * Completes the command to a whole line. ZooKeeper answers the four letters alone; most servers of other kinds
     * answer a line, and their answer shows what they are.
     */
    private static final byte[] END_OF_LINE = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private static final String VERSION = "Zookeeper version: ";
    /** Part of the answer of a ZooKeeper server whose configuration does not allow the command. */
    private static final String NOT_ALLOWED = "whitelist";

    private static final String NOT_SERVING = "not currently serving";
    private static final String READ_ONLY = "READ-ONLY mode";
    /** The first byte with which a TLS server answers a peer that does not speak TLS. */
    private static final char TLS_ALERT = 0x15;
    /**
     * A server that has reached its limit of connections accepts a connection and closes it at once, without telling
     * the client why.
     */
    private static final String LIMIT =
            "probably it has as many connections of this machine as it allows (maxClientCnxns, 60 unless"
                    + " set), or in all (maxCnxns): close some, or raise the limit";

    private static final String CLOSES = "closes"; // the server closes the connection in an orderly way
    private static final String RESETS = "resets"; // the server breaks the connection
    private static final String WAITS = ""; // the server keeps the connection open

    private final List<HostAndPort> servers;
    private final @Nullable ZKClientConfig tls; // null if this client does not use TLS
    private volatile @Nullable Socket open; // what close() has to close
    private volatile boolean closed;

    /**
     * One address of a server, and its name in messages. The address is unresolved if the name service does not know
     * the host name.
     */
    public record Server(InetSocketAddress address, String name) {
        /**
         * Returns all addresses of a server: ZooKeeper's client may connect to any of them, so each of them may be the
         * culprit.
         */
        public static List<Server> of(HostAndPort server) {
            try {
                InetAddress[] all = InetAddress.getAllByName(server.getHost());
                return Stream.of(all)
                        .map(address -> new Server(
                                new InetSocketAddress(address, server.getPort()),
                                all.length == 1 ? server.toString() : server + " (" + address.getHostAddress() + ")"))
                        .toList();
            } catch (UnknownHostException e) {
                InetSocketAddress unknown = InetSocketAddress.createUnresolved(server.getHost(), server.getPort());
                return List.of(new Server(unknown, server.toString()));
            }
        }
    }

    /**
     * The text that a server sent, which may be empty, and what it did with the connection afterwards: one of
     * {@link #CLOSES}, {@link #RESETS} and {@link #WAITS}.
     */
    private record Reply(String text, String then) {
        boolean isOfZooKeeper() {
            return text.contains(VERSION) || text.contains(NOT_ALLOWED);
        }

        boolean isOfNoMajority() {
            return text.contains(NOT_SERVING);
        }

        boolean isReadOnly() {
            return text.contains(READ_ONLY);
        }
    }

    /**
     * The result of a probe. {@code isTrouble} says that something is wrong at the server; it is false if the client
     * merely has no session yet. {@code serves} says that the server is available to clients. {@code status} is the
     * server's own report of its state; empty if it gave none.
     */
    public record Finding(
            String text,
            boolean isTrouble,
            boolean serves,
            String status,
            @Nullable Throwable cause) {
        static Finding trouble(String text) {
            return trouble(text, null);
        }

        static Finding trouble(String text, @Nullable Throwable cause) {
            return new Finding(text, true, false, "", cause);
        }

        static Finding noSessionYet(String text, String status) {
            return new Finding(text, false, true, status, null);
        }
    }

    /** Creates a probe of the first few servers, which {@link #run} examines one after another. */
    ServerProbe(List<HostAndPort> servers, @Nullable ZKClientConfig config) {
        this.servers = servers.subList(0, Math.min(MOST_SERVERS, servers.size()));
        this.tls = config != null && TlsSettings.isOn(config) ? config : null;
    }

    /** Creates a probe for tools, which pass the servers one by one. */
    public ServerProbe(@Nullable ZKClientConfig config) {
        this(List.of(), config);
    }

    /** Closes the socket on which the probe blocks, so that the probe ends soon. May be called from any thread. */
    void close() {
        closed = true;
        Socket asking = open;
        if (asking != null) {
            try {
                asking.close();
            } catch (IOException e) {
                // Nobody needs this socket any more.
            }
        }
    }

    /** Probes all addresses and combines the findings. */
    Finding run() {
        List<Finding> all = servers.stream()
                .flatMap(server -> Server.of(server).stream())
                .limit(MOST_ADDRESSES)
                .map(this::look)
                .toList();
        return new Finding(
                all.stream().map(Finding::text).collect(Collectors.joining("; ")),
                all.stream().anyMatch(Finding::isTrouble),
                all.stream().anyMatch(Finding::serves),
                "",
                all.stream()
                        .map(Finding::cause)
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null));
    }

    /** Finds out what answers at one address. Blocks. */
    public Finding look(Server server) {
        try {
            if (closed) {
                return new Finding("not asked any more", false, false, "", null);
            }
            Reply reply = askPlainly(server, QUESTION);
            return tls == null ? onPlain(server, reply) : onTls(server, reply, tls);
        } catch (IOException | RuntimeException e) {
            return Finding.trouble(unreachable(server, e), e);
        }
    }

    /** Sends another of ZooKeeper's four-letter commands and returns the answer; empty if there is none. Blocks. */
    public String ask(Server server, String word) {
        try {
            return tls == null ? askPlainly(server, word).text() : askByTls(tls, server, word);
        } catch (IOException | SSLContextException e) {
            return "";
        }
    }

    /** Explains to the user why no connection can be made to a server. */
    private static String unreachable(Server server, Exception why) {
        String name = server.name();
        if (why instanceof UnknownHostException) {
            return "the host name of " + name + " is unknown: check its spelling and the name service";
        } else if (why instanceof ConnectException) {
            return name + " refuses connections, so nothing listens there: check the port, and that the server runs";
        } else if (why instanceof SocketTimeoutException) {
            return name + " did not answer within " + CONNECT_MILLIS
                    + " ms: check the address, and the firewalls on the way";
        }
        return name + " cannot be reached: " + Printable.of(String.valueOf(why));
    }

    /** Judges a server by its answer to a client without TLS. */
    private static Finding onPlain(Server server, Reply reply) {
        String answer = reply.text();
        String name = server.name();
        if (reply.isOfNoMajority()) {
            return Finding.trouble(
                    name + " runs but serves no clients: its ensemble has no majority; check the other servers");
        } else if (reply.isReadOnly()) {
            return Finding.trouble(name + " is read-only: it has lost its ensemble and gives no locks; check the other"
                    + " servers, and the network between them");
        } else if (reply.isOfZooKeeper()) {
            return Finding.noSessionYet(
                    "a ZooKeeper server answers at " + name + ", and this client has no session of it yet", answer);
        } else if (!answer.isEmpty() && answer.charAt(0) != TLS_ALERT) {
            return Finding.trouble(name + " is not a ZooKeeper server: it answers \""
                    + Printable.of(answer.lines().findFirst().orElse("")) + "\"; check the port");
        } else if (speaksTls(server, reply.then().equals(WAITS) ? ANSWER_MILLIS : HANDSHAKE_MILLIS)) {
            return Finding.trouble(
                    name + " speaks TLS, and this client does not: set zookeeper.client.secure and the key"
                            + " and trust stores in the clientConfig");
        } else if (!reply.then().equals(WAITS)) {
            return Finding.trouble(name + " " + reply.then() + " each connection at once: if it is a proxy, a"
                    + " tunnel or a forwarded port, check that the server behind it runs; if it is the server itself, "
                    + LIMIT);
        }
        return Finding.trouble(name + " accepts connections but does not answer: it is paused, overloaded, or not a"
                + " ZooKeeper server; check the port and the server");
    }

    /**
     * Judges a server for a client with TLS. {@code reply} is its answer without TLS: if it gives one, the client has
     * the wrong port.
     */
    private static Finding onTls(Server server, Reply reply, ZKClientConfig config) {
        String name = server.name();
        if (reply.isOfZooKeeper() || reply.isOfNoMajority()) {
            return Finding.trouble(
                    name + " speaks ZooKeeper without TLS, and this client uses TLS: use the server's port"
                            + " for TLS, or unset zookeeper.client.secure");
        }
        try {
            Reply secret = new Reply(askByTls(config, server, QUESTION), CLOSES);
            return secret.isOfNoMajority() || secret.isReadOnly()
                    ? onPlain(server, secret)
                    : Finding.noSessionYet(
                            "a TLS handshake with " + name + " succeeds, and this client has no session yet",
                            secret.text());
        } catch (IOException | SSLContextException | RuntimeException e) {
            return Finding.trouble(
                    name + ": " + handshakeTrouble(e)
                            + "; the server must trust the certificate in the key store, and the trust store the server's",
                    e);
        }
    }

    /**
     * Sends a command without TLS. If the server stays silent, sends the rest of a line, too, for servers of other
     * kinds.
     */
    private Reply askPlainly(Server server, String word) throws IOException {
        if (server.address().isUnresolved()) {
            throw new UnknownHostException(server.address().getHostString());
        }
        try (Socket socket = new Socket()) {
            open = socket;
            if (closed) {
                return new Reply("", WAITS);
            }
            try {
                socket.connect(server.address(), CONNECT_MILLIS);
                socket.setSoTimeout(ANSWER_MILLIS);
                socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
                Reply reply = read(socket.getInputStream());
                if (reply.text().isEmpty() && reply.then().equals(WAITS)) {
                    socket.getOutputStream().write(END_OF_LINE);
                    reply = read(socket.getInputStream());
                }
                return reply;
            } catch (IOException e) {
                // A reset can arrive before this side sees that the connection was accepted, so it may look like a
                // failure to connect.
                String message = String.valueOf(e.getMessage());
                if (socket.isConnected() || message.contains("reset") || message.contains("Broken pipe")) {
                    return new Reply("", RESETS);
                }
                throw e;
            }
        }
    }

    /** Reads until the server closes the connection, falls silent, or has sent {@link #LONGEST_ANSWER} bytes. */
    private static Reply read(InputStream in) throws IOException {
        byte[] answer = new byte[LONGEST_ANSWER];
        int length = 0;
        try {
            for (int more = 0;
                    more >= 0 && length < answer.length;
                    more = in.read(answer, length, answer.length - length)) {
                length += more;
            }
            return new Reply(new String(answer, 0, length, StandardCharsets.ISO_8859_1), CLOSES);
        } catch (SocketTimeoutException e) {
            return new Reply(new String(answer, 0, length, StandardCharsets.ISO_8859_1), WAITS);
        }
    }

    // ---- By TLS.

    /**
     * Performs the same handshake as ZooKeeper's client, and sends a command. The command is needed: with TLS 1.3 the
     * handshake completes on this side before the server has checked this client's certificate, and only the next read
     * shows whether the server accepts it. A server that does not allow the command stays silent or says so; both count
     * as success.
     */
    private static String askByTls(ZKClientConfig config, Server server, String word)
            throws IOException, SSLContextException {
        try (ClientX509Util util = new ClientX509Util();
                SSLSocket socket = connectByTls(util.createSSLContext(config), server, HANDSHAKE_MILLIS)) {
            if (config.getBoolean(util.getSslHostnameVerificationEnabledProperty(), true)) {
                SSLParameters parameters = socket.getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
                socket.setSSLParameters(parameters);
            }
            socket.startHandshake();
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            Reply reply = read(socket.getInputStream());
            if (reply.text().isEmpty() && reply.then().equals(CLOSES)) {
                throw new SSLException("the server closed the connection behind it");
            }
            return reply.text();
        }
    }

    /** Explains to the user why a handshake failed. */
    private static String handshakeTrouble(Exception why) {
        if (why instanceof SocketTimeoutException) {
            return "the TLS handshake was not answered within " + HANDSHAKE_MILLIS + " ms";
        } else if (why instanceof SSLException e) {
            return "the TLS handshake failed: " + TlsSettings.reason(e) + (isEnd(e) ? "; " + LIMIT : "");
        } else if (why instanceof SocketException) {
            return "the connection broke in the TLS handshake: " + TlsSettings.reason(why) + "; " + LIMIT;
        }
        return TlsSettings.reason(why);
    }

    /** Whether the server answers a handshake at all. It does not matter whether the two sides trust each other. */
    private static boolean speaksTls(Server server, int millis) {
        try (SSLSocket socket = connectByTls(SSLContext.getDefault(), server, millis)) {
            socket.startHandshake();
            return true;
        } catch (SSLHandshakeException | SSLPeerUnverifiedException e) {
            return !isEnd(e); // any answer is TLS, even a refusal; a closed connection is no answer
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            return false;
        }
    }

    /** Whether the server closed the connection instead of answering. */
    private static boolean isEnd(SSLException error) {
        return Throwables.getRootCause(error) instanceof EOFException;
    }

    private static SSLSocket connectByTls(SSLContext context, Server server, int answerMillis) throws IOException {
        InetSocketAddress address = server.address();
        Socket plain = new DeafSocket();
        plain.connect(address, HANDSHAKE_MILLIS);
        plain.setSoTimeout(answerMillis);
        SSLSocketFactory sockets = context.getSocketFactory();
        return (SSLSocket) sockets.createSocket(plain, address.getHostString(), address.getPort(), true);
    }

    /**
     * A socket that ignores failures to write. A server may refuse this client, send an alert that says why, and close.
     * The failure of a write would then hide the alert, which can still be read.
     */
    private static final class DeafSocket extends Socket {
        @Override
        public OutputStream getOutputStream() throws IOException {
            return new FilterOutputStream(super.getOutputStream()) {
                @Override
                public void write(byte[] bytes, int offset, int length) {
                    try {
                        out.write(bytes, offset, length);
                    } catch (IOException e) {
                        // Reading fails, too, and says more.
                    }
                }

                @Override
                public void flush() {
                    // Nothing is buffered here.
                }
            };
        }
    }
}
