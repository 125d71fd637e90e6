// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.util.concurrent.ConcurrentMap;
import org.apache.zookeeper.KeeperException.SessionExpiredException;
import org.apache.zookeeper.KeeperException.SessionMovedException;
import org.apache.zookeeper.KeeperException.UnknownSessionException;
import org.apache.zookeeper.server.SessionTrackerImpl;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.jspecify.annotations.Nullable;

/** A session tracker that lets the operator act without a session, and that ends at once when it is shut down. */
final class OperatorSessionTracker extends SessionTrackerImpl {
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
        // It sleeps until the next tick, and a kit that waits for its threads should not wait for that.
        interrupt();
    }

    @Override
    protected void handleException(String threadName, Throwable failure) {
        if (!shutDown) {
            super.handleException(threadName, failure);
        }
    }
}
