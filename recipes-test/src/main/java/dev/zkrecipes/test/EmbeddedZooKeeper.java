// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * A real standalone ZooKeeper server inside this JVM, on a port of 127.0.0.1 that the system chose, or the
 * builder names.
 *
 * <pre>{@code
 * try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
 *     ZooKeeper zooKeeper = new ZooKeeper(server.connectString(), 5_000, event -> {});
 *     ...
 * }
 * }</pre>
 *
 * <p>The port, the data and the sessions outlive {@link #stop()} and {@link #restart()}: a client whose session
 * time-out has not run out comes back to its session and its ephemeral nodes; a restarted server gives every session
 * its whole time-out again. Temporary data are removed by {@link #close()}.
 *
 * <p>There is no admin server and no JMX, and the number of connections is not limited. Nothing is forced to disk
 * unless {@link EmbeddedZooKeeperBuilder#fsync(boolean)} asks for it: data survive a restart of this server, not a
 * crash of the machine.
 *
 * <p>What the server holds can be read and changed as an operator would, without a client. Reads come straight from the
 * server's memory and cost no request. A change takes the server's ordinary way, so watches fire, but as its own super
 * user: it opens no session, is refused by no ACL, is not in the counts of requests, and has been applied when the call
 * returns.
 *
 * <p>Instances are thread-safe. Except for {@link #connectString()}, {@link #port()}, {@link #isRunning()}, {@link
 * #requests()}, {@link #eventsSent()}, {@link #stop()} and {@link #restart()}, all methods throw {@link
 * IllegalStateException} while the server is stopped.
 */
public final class EmbeddedZooKeeper extends ServerTree implements AutoCloseable {
    private final ServerSettings settings;
    private final Path directory;
    private final LoopbackPort port;
    private final RequestCounts.Counter requests = new RequestCounts.Counter();
    private final LongAdder events = new LongAdder();
    // Written under the monitor of this object, so that only one thread starts or stops.
    private volatile @Nullable RunningServer running;
    private volatile boolean closed;

    private EmbeddedZooKeeper(ServerSettings settings) throws IOException {
        this.settings = settings;
        this.port = LoopbackPort.reserve(settings.port());
        Path chosen = settings.dataDirectory();
        this.directory = chosen == null
                ? Files.createTempDirectory("embedded-zookeeper-" + port.number() + "-")
                : Files.createDirectories(chosen);
    }

    /**
     * Starts a server with a tick of 500 ms and session time-outs from 1 s to 60 s.
     *
     * @return the running server
     * @throws UncheckedIOException if it cannot be started
     */
    public static EmbeddedZooKeeper start() {
        return builder().start();
    }

    /** {@return a builder with the settings of {@link #start()}, which can be changed} */
    public static EmbeddedZooKeeperBuilder builder() {
        return new EmbeddedZooKeeperBuilder();
    }

    static EmbeddedZooKeeper start(ServerSettings settings) {
        try {
            EmbeddedZooKeeper server = new EmbeddedZooKeeper(settings);
            try {
                server.restart();
                return server;
            } catch (RuntimeException e) {
                server.close();
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot prepare a ZooKeeper server: " + e.getMessage(), e);
        }
    }

    /** {@return what to give to a client: {@code 127.0.0.1:port}, the same after each restart} */
    public String connectString() {
        return port.connectString();
    }

    /** {@return the port, the same after each restart; no other process gets it while the server is stopped} */
    public int port() {
        return port.number();
    }

    /** {@return whether the server runs: false after {@link #stop()} or {@link #close()}} */
    public boolean isRunning() {
        return running != null;
    }

    /**
     * Stops the server: connections are closed, new ones are refused, data and sessions are kept. Returns when the last
     * thread of the server has ended. Does nothing when it is stopped already.
     *
     * @throws UncheckedIOException if the log cannot be closed
     */
    public synchronized void stop() {
        RunningServer stopping = running;
        if (stopping == null) {
            return;
        }
        running = null;
        try {
            stopping.stop();
            port.hold();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot stop " + this, e);
        }
    }

    /**
     * Starts the server again, on the same port with the same data and sessions. Stops it first if it runs.
     *
     * @throws UncheckedIOException if it cannot be started
     * @throws IllegalStateException if it was closed
     */
    public synchronized void restart() {
        if (closed) {
            throw new IllegalStateException(this + " cannot be started again: it was closed");
        }
        stop();
        try {
            running = RunningServer.start(settings, directory, port, requests, events);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Stops the server for good and removes its temporary data. Closing twice does nothing.
     *
     * @throws UncheckedIOException if the log cannot be closed or the data cannot be removed
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            try (port) {
                stop();
            } finally {
                removeTemporaryData();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot clean up after " + this, e);
        }
    }

    private void removeTemporaryData() throws IOException {
        if (settings.dataDirectory() == null && Files.exists(directory)) {
            MoreFiles.deleteRecursively(directory, RecursiveDeleteOption.ALLOW_INSECURE);
        }
    }

    /**
     * {@return how many requests have arrived since the first start, operators' apart} A request is counted before it
     * is answered.
     */
    public RequestCounts requests() {
        return requests.snapshot();
    }

    /**
     * {@return how many watch events were sent to clients since the first start} An event is counted before the reply
     * to the request that caused it.
     */
    public long eventsSent() {
        return events.sum();
    }

    /**
     * Opens a second port, for clients that speak TLS and have a certificate that the server trusts. It ends with this
     * run of the server; close it before.
     *
     * @param keys the server's
     * @return the open port
     * @throws UncheckedIOException if it cannot be opened
     */
    public SecurePort openSecurePort(TlsKeys keys) {
        try {
            return running().openSecurePort(keys);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot open a secure port of " + this, e);
        }
    }

    /**
     * {@return the ids of the sessions that are alive, in ascending order, as {@code ZooKeeper.getSessionId()} gives
     * them}
     */
    public List<Long> sessions() {
        return running().sessions();
    }

    /**
     * Expires a session, whatever its time-out. Its ephemeral nodes are gone when this returns and its connection is
     * closed; the client learns of it when it has connected again, which it tries after up to 1 s.
     *
     * @param sessionId the session
     * @return whether the session was alive; if not, nothing happens
     */
    public boolean expireSession(long sessionId) {
        RunningServer server = running();
        boolean alive = server.sessions().contains(sessionId);
        if (alive) {
            server.expire(sessionId);
        }
        return alive;
    }

    @Override
    public String toString() {
        return "ZooKeeper on " + connectString() + (isRunning() ? "" : closed ? " (closed)" : " (stopped)");
    }

    @Override
    RunningServer running() {
        RunningServer server = running;
        if (server == null) {
            throw new IllegalStateException(
                    this + " cannot answer; call " + (closed ? "this before close()" : "restart() first"));
        }
        return server;
    }
}
