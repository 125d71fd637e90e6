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
 * A real standalone ZooKeeper server inside this JVM. It listens on 127.0.0.1, on a port chosen by the operating system
 * or set in the builder.
 *
 * <pre>{@code
 * try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
 *     ZooKeeper zooKeeper = new ZooKeeper(server.connectString(), 5_000, event -> {});
 *     ...
 * }
 * }</pre>
 *
 * <p>The port, the data and the sessions outlive {@link #stop()} and {@link #restart()}. A client that reconnects
 * before its session time-out has elapsed keeps its session and its ephemeral nodes. A restarted server starts the
 * time-out of each session again. {@link #close()} removes temporary data.
 *
 * <p>There is no admin server and no JMX, and the number of connections is not limited. Unless
 * {@link EmbeddedZooKeeperBuilder#fsync(boolean)} asks for it, nothing is forced to disk: the data survives a restart
 * of this server, but not a crash of the machine.
 *
 * <p>Tests can read and change the data of the server as an operator would, without a client. Reads come straight from
 * the memory of the server and send no request. A change is processed like any other request, so watches fire. But it
 * is made by the super user of the server: it needs no session, no ACL refuses it, the request counts do not include
 * it, and it has been applied when the call returns.
 *
 * <p>Instances are thread-safe. While the server is stopped, all methods throw {@link IllegalStateException}, except
 * for {@link #connectString()}, {@link #port()}, {@link #isRunning()}, {@link #requests()}, {@link #eventsSent()},
 * {@link #stop()}, {@link #restart()} and {@link #close()}.
 */
public final class EmbeddedZooKeeper extends ServerTree implements AutoCloseable {
    private final ServerSettings settings;
    private final Path directory;
    private final LoopbackPort port;
    private final RequestCounts.Counter requests = new RequestCounts.Counter();
    private final LongAdder events = new LongAdder();
    // These fields are written while holding the monitor of this object, so that only one thread at a time starts or
    // stops the server.
    private volatile @Nullable RunningServer running;
    private volatile boolean closed;

    private EmbeddedZooKeeper(ServerSettings settings) throws IOException {
        this.settings = settings;
        this.port = LoopbackPort.reserve(settings.port());
        try {
            Path chosen = settings.dataDirectory();
            this.directory = chosen == null
                    ? Files.createTempDirectory("embedded-zookeeper-" + port.number() + "-")
                    : Files.createDirectories(chosen);
        } catch (IOException | RuntimeException e) {
            port.close(); // the caller gets no server to close
            throw e;
        }
    }

    /**
     * Starts a server with a tick of 500 ms and session time-outs from 1 s to 60 s.
     *
     * @return the running server
     * @throws UncheckedIOException if the server cannot be started
     */
    public static EmbeddedZooKeeper start() {
        return builder().start();
    }

    /** {@return a builder for a server with settings other than those of {@link #start()}} */
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

    /** {@return the connect string for a client, {@code 127.0.0.1:port}, which stays the same after a restart} */
    public String connectString() {
        return port.connectString();
    }

    /**
     * {@return the port, which stays the same after a restart} No other process can get it while the server is stopped.
     */
    public int port() {
        return port.number();
    }

    /** {@return whether the server runs; false after {@link #stop()} and {@link #close()}} */
    public boolean isRunning() {
        return running != null;
    }

    /**
     * Stops the server. It closes its connections, refuses new ones, and keeps its data and sessions. Returns when
     * the last thread of the server has ended. Does nothing if the server is stopped already.
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
     * Starts the server again, on the same port and with the same data and sessions. Stops it first if it is running.
     *
     * @throws UncheckedIOException if the server cannot be started
     * @throws IllegalStateException if the server was closed
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
     * {@return the number of requests received from clients since the first start} A request is counted before it is
     * answered.
     */
    public RequestCounts requests() {
        return requests.snapshot();
    }

    /**
     * {@return the number of watch events sent to clients since the first start} An event is counted before the reply
     * to the request that caused it is sent.
     */
    public long eventsSent() {
        return events.sum();
    }

    /**
     * Opens a second port, for clients that speak TLS and have a certificate that the server trusts. Close the port
     * before the server stops: it does not outlive this run of the server.
     *
     * @param keys the keys of the server
     * @return the open port
     * @throws UncheckedIOException if the port cannot be opened
     */
    public SecurePort openSecurePort(TlsKeys keys) {
        try {
            return running().openSecurePort(keys);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot open a secure port of " + this, e);
        }
    }

    /**
     * {@return the ids of the sessions that are alive, in ascending order} {@code ZooKeeper.getSessionId()} returns
     * the same ids.
     */
    public List<Long> sessions() {
        return running().sessions();
    }

    /**
     * Expires a session, whatever its time-out. When this method returns, the ephemeral nodes of the session are gone
     * and its connection is closed. The client learns that its session has expired when it reconnects, which takes it
     * up to 1 s.
     *
     * @param sessionId the id of the session
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
