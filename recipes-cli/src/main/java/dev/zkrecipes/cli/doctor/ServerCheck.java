// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.doctor;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.internal.diagnosis.ServerProbe;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * Checks one address of a server: asks the server for its state by four-letter words, and opens a session there. A
 * server that does not answer delays the caller by some seconds.
 */
final class ServerCheck {
    private static final Duration SESSION = Duration.ofSeconds(10);
    private static final String LOG = "it may have too many connections from this host (maxClientCnxns), or refuse the"
            + " certificate or the credentials; see its log";

    private final ServerProbe.Server server;
    private final ConnectOptions connection;
    private final boolean logsIn;
    private final ServerProbe probe;
    private Optional<ZooKeeper> session = Optional.empty();

    ServerCheck(ServerProbe.Server server, ConnectOptions connection, boolean logsIn) {
        this.server = server;
        this.connection = connection;
        this.logsIn = logsIn;
        this.probe = new ServerProbe(connection.clientConfig().orElse(null));
    }

    /**
     * Returns the open session; empty if the server was not checked yet or has a problem. The caller must close the
     * session.
     */
    Optional<ZooKeeper> session() {
        return session;
    }

    /**
     * Checks the server.
     *
     * @param opens whether to open a session, which is of no use after a failed SASL login
     * @return the findings, and advice if something is wrong
     */
    String run(boolean opens) throws InterruptedException {
        ServerProbe.Finding found = probe.look(server);
        if (!found.serves() || !opens) {
            // The table shows the name in a column of its own.
            String name = server.name();
            String text = found.text();
            return text.startsWith(name) ? text.substring(name.length()).replaceFirst("^:? ", "") : text;
        }
        String limits = limits();
        CountDownLatch settled = new CountDownLatch(1);
        long begin = System.nanoTime();
        ZooKeeper zk = connection.handle(server.address(), event -> {
            // With a SASL login, the client is connected before the login has succeeded or failed.
            if (event.getType() == EventType.None && !(logsIn && event.getState() == KeeperState.SyncConnected)) {
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
        boolean tls = connection
                .clientConfig()
                .map(config -> config.getBoolean(ZKClientConfig.SECURE_CLIENT))
                .orElse(false);
        return server.address().getAddress().getHostAddress() + ", " + word(found.status(), "Mode") + " "
                + word(found.status(), "Zookeeper version") + (tls ? ", TLS" : ", no TLS") + ", session in " + millis
                + " ms, " + limits;
    }

    /**
     * Reads one node, because a server may give a session and then refuse or ignore every request. Returns what is
     * wrong; empty if nothing is.
     */
    private static String trouble(ZooKeeper zk) throws InterruptedException {
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

    /** Returns the limits of the server, which many servers do not reveal. */
    private String limits() {
        String conf = probe.ask(server, "conf");
        return conf.contains("maxClientCnxns")
                ? "session time-outs " + word(conf, "minSessionTimeout") + " to " + word(conf, "maxSessionTimeout")
                        + " ms, maxClientCnxns " + word(conf, "maxClientCnxns")
                : "limits unknown (conf is not in its 4lw.commands.whitelist)";
    }

    /** Returns the value of a key in the answer to a four-letter word, or a question mark if the key is missing. */
    private static String word(String answer, String key) {
        Matcher found = Pattern.compile("(?m)^" + key + "[:=] ?([^-,\\s]+)").matcher(answer);
        return found.find() ? PlainText.of(found.group(1), 40) : "?";
    }
}
