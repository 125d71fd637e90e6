// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.common.collect.Streams;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.apache.jute.Record;
import org.apache.zookeeper.ClientCnxn;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.server.ContainerManager;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.DataTree.ProcessTxnResult;
import org.apache.zookeeper.server.NIOServerCnxn;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxn;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.jspecify.annotations.Nullable;

/** One run of a server, from start to stop. A restart creates a new instance, with the same port and data. */
final class RunningServer {
    private static final long OPERATOR_LIMIT_SECONDS = 20;
    private static final Object FSYNC_PROPERTY = new Object();

    private final KitThreads threads;
    private final FileTxnSnapLog log;
    private final ObservedServer server;
    private final ObservedConnections connections;
    private final ContainerManager containers;

    private RunningServer(
            KitThreads threads, FileTxnSnapLog log, ObservedServer server, ObservedConnections connections) {
        this.threads = threads;
        this.log = log;
        this.server = server;
        this.connections = connections;
        this.containers = server.newContainerManager();
    }

    static RunningServer start(
            ServerSettings settings,
            Path directory,
            LoopbackPort port,
            RequestCounts.Counter requests,
            LongAdder events)
            throws IOException {
        KitThreads.keepUncaughtExceptionHandler();
        KitThreads threads = new KitThreads("embedded-zookeeper-" + port.number());
        try {
            RunningServer running =
                    threads.run("start", () -> launch(threads, settings, directory, port, requests, events));
            running.containers.start();
            return running;
        } catch (ExecutionException e) {
            throw new IOException(
                    "cannot start a ZooKeeper server on port " + port.number() + " with the data in " + directory + ": "
                            + e.getCause(),
                    e.getCause());
        }
    }

    private static RunningServer launch(
            KitThreads threads,
            ServerSettings settings,
            Path directory,
            LoopbackPort port,
            RequestCounts.Counter requests,
            LongAdder events)
            throws IOException, InterruptedException {
        FileTxnSnapLog log = openLog(directory, settings.fsync());
        try {
            ObservedServer server = new ObservedServer(log, settings, requests);
            // The data is loaded before any client can connect: the server would reject the first clients while it
            // loads.
            server.startdata();
            ObservedConnections connections = port.listen(address -> bind(address, events));
            try {
                connections.startup(server);
                return new RunningServer(threads, log, server, connections);
            } catch (IOException | RuntimeException e) {
                connections.shutdown();
                throw e;
            }
        } catch (IOException | RuntimeException e) {
            log.close();
            throw e;
        }
    }

    private static ObservedConnections bind(InetSocketAddress address, LongAdder events) throws IOException {
        ObservedConnections connections = new ObservedConnections(events);
        int unlimited = 0;
        connections.configure(address, unlimited);
        return connections;
    }

    private static FileTxnSnapLog openLog(Path directory, boolean fsync) throws IOException {
        if (fsync) {
            return new FileTxnSnapLog(directory.toFile(), directory.toFile());
        }
        // The log reads this property when it is created, and offers no other way.
        synchronized (FSYNC_PROPERTY) {
            String before = System.setProperty("zookeeper.forceSync", "no");
            try {
                return new FileTxnSnapLog(directory.toFile(), directory.toFile());
            } finally {
                if (before == null) {
                    System.clearProperty("zookeeper.forceSync");
                } else {
                    System.setProperty("zookeeper.forceSync", before);
                }
            }
        }
    }

    void stop() throws IOException {
        try {
            threads.run("stop", () -> {
                containers.stop();
                connections.shutdown();
                log.close();
                return null;
            });
        } catch (ExecutionException e) {
            throw new IOException("could not stop the server: " + e.getCause(), e.getCause());
        }
        threads.awaitEnd();
    }

    SecurePort openSecurePort(TlsKeys keys) throws IOException {
        return SecurePort.open(server, keys);
    }

    DataTree tree() {
        return server.getZKDatabase().getDataTree();
    }

    /**
     * Asks for each connection whether it watches the children, because the server only lists the sessions that watch
     * data.
     */
    List<Long> childWatchers(String path) {
        return Streams.stream(connections.getConnections())
                .filter(connection -> tree().containsWatcher(path, WatcherType.Children, connection))
                .map(ServerCnxn::getSessionId)
                .sorted()
                .toList();
    }

    List<Long> sessions() {
        return server.getZKDatabase().getSessionWithTimeOuts().keySet().stream()
                .sorted()
                .toList();
    }

    void expire(long sessionId) {
        try {
            submit(OperatorRequest.inSession(sessionId, OpCode.closeSession));
        } catch (KeeperException e) {
            throw new IllegalStateException("the server refused to close session 0x" + Long.toHexString(sessionId), e);
        }
    }

    /** Makes the container manager check now, and returns when every container that it found has been removed. */
    void checkContainers() {
        try {
            containers.checkContainers();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while removing empty containers", e);
        }
        barrier(() -> {});
    }

    /** Runs an action when all earlier requests have been applied and none is being applied, and waits for its end. */
    void barrier(Runnable action) {
        try {
            submit(OperatorRequest.running(OpCode.ping, action));
        } catch (KeeperException e) {
            throw new IllegalStateException("the server refused a request that does nothing", e);
        }
    }

    /** Sends a request to the server, and waits until it has been applied. */
    ProcessTxnResult submit(OperatorRequest request) throws KeeperException {
        server.submitRequest(request);
        try {
            return request.result().get(OPERATOR_LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof KeeperException refusal) {
                throw refusal;
            }
            throw new IllegalStateException("the server failed on " + request, e.getCause());
        } catch (TimeoutException e) {
            throw new IllegalStateException(
                    "no answer within " + OPERATOR_LIMIT_SECONDS + " s; was the server stopped meanwhile?", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for the server to apply " + request, e);
        }
    }

    void takeSnapshot() throws IOException {
        server.takeSnapshot();
    }

    /** Makes connections that count the watch events they send, and that are not registered with JMX. */
    private static final class ObservedConnections extends NIOServerCnxnFactory {
        private final LongAdder events;

        ObservedConnections(LongAdder events) {
            this.events = events;
        }

        @Override
        protected NIOServerCnxn createConnection(SocketChannel channel, SelectionKey key, SelectorThread selector)
                throws IOException {
            return new Connection(channel, key, selector);
        }

        // There is no limit of connections, so ZooKeeper's warning about a missing limit does not apply.
        @Override
        protected void initMaxCnxns() {}

        @Override
        public void registerConnection(ServerCnxn connection) {}

        @Override
        public void unregisterConnection(ServerCnxn connection) {}

        private final class Connection extends NIOServerCnxn {
            Connection(SocketChannel channel, SelectionKey key, SelectorThread selector) throws IOException {
                super(zkServer, channel, key, ObservedConnections.this, selector);
            }

            // Events are counted here rather than where they are created: an event that an ACL hides is never sent.
            @Override
            public int sendResponse(
                    ReplyHeader header,
                    @Nullable Record body,
                    @Nullable String tag,
                    @Nullable String cacheKey,
                    @Nullable Stat stat,
                    int opCode) {
                if (header.getXid() == ClientCnxn.NOTIFICATION_XID) {
                    events.increment();
                }
                return super.sendResponse(header, body, tag, cacheKey, stat, opCode);
            }
        }
    }
}
