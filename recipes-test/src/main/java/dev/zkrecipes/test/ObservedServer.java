// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.io.File;
import java.io.IOException;
import java.util.concurrent.ConcurrentMap;
import org.apache.zookeeper.KeeperException.SessionExpiredException;
import org.apache.zookeeper.KeeperException.SessionMovedException;
import org.apache.zookeeper.KeeperException.UnknownSessionException;
import org.apache.zookeeper.proto.ConnectRequest;
import org.apache.zookeeper.proto.RequestHeader;
import org.apache.zookeeper.server.ClientCnxnLimitException;
import org.apache.zookeeper.server.ContainerManager;
import org.apache.zookeeper.server.DataTree.ProcessTxnResult;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestRecord;
import org.apache.zookeeper.server.ServerCnxn;
import org.apache.zookeeper.server.SessionTrackerImpl;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.jspecify.annotations.Nullable;

/**
 * ZooKeeper's standalone server, which also counts the requests that arrive, applies requests of an operator, and
 * does not register with JMX.
 */
final class ObservedServer extends ZooKeeperServer {
    // ZooKeeper's default allows 10,000 removals a minute, which would slow down tests that remove many containers.
    private static final int CONTAINER_REMOVALS_PER_MINUTE = 60_000;

    private final RequestCounts.Counter requests;
    private final ServerSettings settings;

    ObservedServer(FileTxnSnapLog log, ServerSettings settings, RequestCounts.Counter requests) {
        super(
                log,
                (int) settings.tickTime().toMillis(),
                (int) settings.minSessionTimeout().toMillis(),
                (int) settings.maxSessionTimeout().toMillis(),
                -1,
                new ZKDatabase(log),
                "",
                false);
        this.settings = settings;
        this.requests = requests;
    }

    /**
     * Creates the container manager. Must be called after the server has started: before that, the manager cannot send
     * its removals.
     */
    ContainerManager newContainerManager() {
        int intervalMillis = (int) settings.containerCheckInterval().toMillis();
        return new ContainerManager(getZKDatabase(), firstProcessor, intervalMillis, CONTAINER_REMOVALS_PER_MINUTE);
    }

    @Override
    public void processPacket(ServerCnxn connection, RequestHeader header, RequestRecord body) throws IOException {
        requests.add(RequestType.ofOpCode(header.getType()));
        super.processPacket(connection, header, body);
    }

    @Override
    public void processConnectRequest(ServerCnxn connection, ConnectRequest request)
            throws IOException, ClientCnxnLimitException {
        requests.add(RequestType.ofConnect(request.getSessionId()));
        super.processConnectRequest(connection, request);
    }

    @Override
    public ProcessTxnResult processTxn(Request request) {
        ProcessTxnResult result = super.processTxn(request);
        if (request instanceof OperatorRequest operator) {
            operator.applied(result);
        }
        return result;
    }

    @Override
    protected void createSessionTracker() {
        sessionTracker = new OperatorSessionTracker(this, getZKDatabase().getSessionWithTimeOuts(), getTickTime());
    }

    // A failure that counts as severe would end the JVM, and all other tests with it.
    @Override
    public File takeSnapshot(boolean fsync, boolean severe) throws IOException {
        return super.takeSnapshot(fsync, false);
    }

    // Several servers in one JVM would register the same names, and no test reads them.
    @Override
    protected void registerJMX() {}

    @Override
    protected void unregisterJMX() {}

    /**
     * A session tracker that accepts requests of an operator, who has no session, and that ends at once when it is shut
     * down.
     */
    private static final class OperatorSessionTracker extends SessionTrackerImpl {
        private volatile boolean shutDown;

        OperatorSessionTracker(ZooKeeperServer server, ConcurrentMap<Long, Integer> sessions, int tickTimeMillis) {
            super(server, sessions, tickTimeMillis, 1, server.getZooKeeperServerListener());
        }

        @Override
        public synchronized void checkSession(long sessionId, @Nullable Object owner)
                throws SessionExpiredException, SessionMovedException, UnknownSessionException {
            if (sessionId != OperatorRequest.NO_SESSION) {
                super.checkSession(sessionId, owner);
            }
        }

        @Override
        public void shutdown() {
            shutDown = true;
            super.shutdown();
            // The tracker sleeps until the next tick, and stopping a server waits for all its threads.
            interrupt();
        }

        @Override
        protected void handleException(String threadName, Throwable failure) {
            if (!shutDown) {
                super.handleException(threadName, failure);
            }
        }
    }
}
