// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.spi.ForeignLock;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;

/** A lock of Curator's that is held. The framework's connection decides its state. */
final class CuratorHold implements ForeignLock.Hold, ConnectionStateListener {
    private final CuratorLock lock;
    private final long session;
    private final CompletableFuture<Void> lost = new CompletableFuture<>();
    private volatile boolean suspended;

    private CuratorHold(CuratorLock lock) {
        this.lock = lock;
        this.session = session();
    }

    static CuratorHold begin(CuratorLock lock) {
        CuratorHold hold = new CuratorHold(lock);
        lock.framework().getConnectionStateListenable().addListener(hold);
        return hold;
    }

    /** Called after the lock was acquired: the listeners may not have heard yet that the session has ended. */
    CuratorHold checked() {
        try {
            if (session() == session) {
                return this;
            }
        } catch (RuntimeException e) {
            // Nobody knows in which session the lock was acquired.
        }
        lost.complete(null);
        return this;
    }

    void end() {
        lock.framework().getConnectionStateListenable().removeListener(this);
    }

    /** The session of the framework now; 0 if there is none yet. */
    private long session() {
        try {
            return lock.framework().getZookeeperClient().getZooKeeper().getSessionId();
        } catch (Exception e) {
            throw lock.translated(e);
        }
    }

    @Override
    public void stateChanged(CuratorFramework client, ConnectionState newState) {
        if (newState == ConnectionState.LOST) {
            lost.complete(null);
        }
        suspended = !newState.isConnected();
    }

    @Override
    public LeaseState state() {
        if (lost.isDone()) {
            return LeaseState.LOST;
        }
        return suspended ? LeaseState.SUSPENDED : LeaseState.HELD;
    }

    @Override
    public void onLost(Runnable listener) {
        var unused = lost.thenRun(listener);
    }

    @Override
    public void release() {
        end();
        try {
            lock.lock().release();
        } catch (Exception e) {
            if (!CuratorLock.isOfConnection(e)) { // else Curator repeats the deletion in the background
                throw lock.translated(e);
            }
        }
    }
}
