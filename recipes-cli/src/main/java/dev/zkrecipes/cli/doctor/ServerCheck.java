// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.doctor;

import com.google.common.net.HostAndPort;
import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.text.PlainText;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception;

/** One server of the connect string: what it says of itself in four-letter words, and whether it gives a session. */
final class ServerCheck {
    private static final int LIMIT_MILLIS = 3_000;
    private static final byte TLS_ALERT = 0x15;
    private static final Duration SESSION = Duration.ofSeconds(10);
    private static final String LOG = "it may have too many connections from this host (maxClientCnxns), or refuse the"
            + " certificate or the credentials; see its log";
    private static final int LONGEST_ANSWER = 8 << 10;

    private final InetSocketAddress server;
    private final ConnectOptions connection;
    private final Optional<ZKClientConfig> tls;
    private final String name;
    private Optional<ZooKeeper> session = Optional.empty();

    ServerCheck(InetSocketAddress server, ConnectOptions connection) {
        this.server = server;
        this.connection = connection;
        this.tls = connection.clientConfig().filter(config -> config.getBoolean(ZKClientConfig.SECURE_CLIENT));
        this.name =
                HostAndPort.fromParts(server.getHostString(), server.getPort()).toString();
    }

    String name() {
        return name;
    }

    /** The session, if all is well with the server; to be closed. */
    Optional<ZooKeeper> session() {
        return session;
    }

    /** What was found, and what to do if not all is well. */
    String run() throws InterruptedException {
        try {
            String status = ask("srvr");
            String trouble = !status.isEmpty() ? otherServer(status) : tls.isEmpty() ? withoutAnswer() : "";
            return trouble.isEmpty() ? open(status) : trouble;
        } catch (UnknownHostException e) {
            return "the host name is unknown: check its spelling and the name service";
        } catch (ConnectException e) {
            return "refuses connections: check the port, and that the server runs";
        } catch (SocketTimeoutException e) {
            return "cannot be reached within " + LIMIT_MILLIS + " ms: check the address, and the firewalls on the way";
        } catch (IOException | GeneralSecurityException | X509Exception e) {
            return tls.isPresent() ? byTls(e) : "cannot be asked: " + PlainText.of(e.toString());
        }
    }

    private String byTls(Exception e) {
        try {
            if (isZooKeeper(converse("srvr", connect()))) {
                return "speaks ZooKeeper without TLS, and this client uses TLS: give the server's port for TLS, or unset"
                        + " zookeeper.client.secure";
            }
        } catch (IOException again) {
            // It is something else.
        }
        return "the TLS handshake failed (" + PlainText.of(e.toString())
                + "): the server must trust the certificate in the key" + " store, and the trust store the server's";
    }

    private static String otherServer(String status) {
        if (status.contains("not currently serving requests")) {
            return "runs but serves nobody: its ensemble has no majority; start the other servers";
        }
        if (status.contains("READ-ONLY mode")) {
            return "is read-only: it has lost its ensemble and gives no locks; check the other servers, and the network"
                    + " between them";
        }
        return isZooKeeper(status)
                ? ""
                : "is no ZooKeeper server: it answers \""
                        + PlainText.of(status.lines().findFirst().orElse(""), 60) + "\"; check the port";
    }

    private static boolean isZooKeeper(String status) {
        return status.contains("Zookeeper version");
    }

    /** There was no answer to the word that every server answers. */
    private String withoutAnswer() {
        try {
            handshake(connect(), SSLContext.getDefault()).close();
        } catch (IOException | GeneralSecurityException e) {
            if (!(e instanceof SSLHandshakeException)
                    || e.getCause() instanceof EOFException) { // nothing came, or no TLS
                return "accepts connections but does not answer: it is paused, has too many connections from this host"
                        + " (maxClientCnxns), is no ZooKeeper server, or a proxy with none behind it; see its log";
            }
        }
        return "speaks TLS, and this client does not: set zookeeper.client.secure and the stores of keys and trust in the"
                + " file of --config, or give the port without TLS";
    }

    private String open(String status)
            throws InterruptedException, IOException, GeneralSecurityException, X509Exception {
        String addresses = Stream.of(InetAddress.getAllByName(server.getHostString()))
                .map(InetAddress::getHostAddress)
                .distinct()
                .collect(Collectors.joining(", "));
        String limits = limits();
        CountDownLatch settled = new CountDownLatch(1);
        long begin = System.nanoTime();
        ZooKeeper zk = connection.handle(name, event -> {
            if (event.getType() == EventType.None) {
                settled.countDown();
            }
        });
        boolean answered = settled.await(SESSION.toMillis(), TimeUnit.MILLISECONDS);
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
        String trouble = answered ? trouble(zk) : "gives no session within " + SESSION.toSeconds() + " s: " + LOG;
        if (!trouble.isEmpty()) {
            zk.close(1_000);
            return trouble;
        }
        session = Optional.of(zk);
        return addresses + ", " + word(status, "Mode") + " " + word(status, "Zookeeper version")
                + (tls.isPresent() ? ", TLS" : ", no TLS") + ", session in " + millis + " ms, " + limits;
    }

    private String trouble(ZooKeeper zk) throws InterruptedException {
        try {
            zk.exists("/", false);
            return "";
        } catch (KeeperException.AuthFailedException | KeeperException.SessionClosedRequireAuthException e) {
            return "refuses the credentials, or requires some: check --auth-file, and SASL in the file of --config";
        } catch (KeeperException.RequestTimeoutException e) {
            return "gives a session and answers nothing: it is stuck, or cut off from its ensemble; see its log";
        } catch (KeeperException e) {
            return "ends the session (" + e.code() + "): " + LOG;
        }
    }

    private String limits() throws IOException, GeneralSecurityException, X509Exception {
        String conf = ask("conf");
        return conf.contains("maxClientCnxns")
                ? "session time-outs " + word(conf, "minSessionTimeout") + " to " + word(conf, "maxSessionTimeout")
                        + " ms, maxClientCnxns " + word(conf, "maxClientCnxns")
                : "limits unknown (conf is not in its 4lw.commands.whitelist)";
    }

    private static String word(String answer, String key) {
        Matcher found = Pattern.compile("(?m)^" + key + "[:=] ?([^-,\\s]+)").matcher(answer);
        return found.find() ? PlainText.of(found.group(1), 40) : "?";
    }

    /** The answer to a four-letter word; empty if there is none. */
    private String ask(String word) throws IOException, GeneralSecurityException, X509Exception {
        if (tls.isEmpty()) {
            return converse(word, connect());
        }
        try (ClientX509Util util = new ClientX509Util()) {
            return converse(word, handshake(connect(), util.createSSLContext(tls.get())));
        }
    }

    private static String converse(String word, Socket socket) throws IOException {
        try (socket) {
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            byte[] answer = socket.getInputStream().readNBytes(LONGEST_ANSWER);
            return answer.length == 0 || answer[0] == TLS_ALERT ? "" : new String(answer, StandardCharsets.UTF_8);
        } catch (IOException e) {
            if (socket instanceof SSLSocket && !(e instanceof SocketTimeoutException)) {
                throw e;
            }
            return ""; // waited for more than four letters, or broke the connection
        }
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress(server.getHostString(), server.getPort()), LIMIT_MILLIS);
        socket.setSoTimeout(LIMIT_MILLIS);
        return socket;
    }

    private Socket handshake(Socket plain, SSLContext context) throws IOException {
        SSLSocket socket = (SSLSocket)
                context.getSocketFactory().createSocket(plain, server.getHostString(), server.getPort(), true);
        socket.startHandshake();
        return socket;
    }
}
