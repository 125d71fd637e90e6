// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.spi.ForeignLock;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.CuratorEventType;
import org.apache.curator.framework.api.CuratorListener;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;

/**
 * A lock of Curator's that is held. The framework's connection decides its state; a framework that is closed tells its
 * connection listeners nothing more.
 */
final class CuratorHold implements ForeignLock.Hold, ConnectionStateListener, CuratorListener {
    private final CuratorLock lock;
    private final Thread owner = Thread.currentThread();
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
        lock.framework().getCuratorListenable().addListener(hold);
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
        lock.framework().getCuratorListenable().removeListener(this);
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
        // A read-only server has no majority behind it, which may end the session meanwhile.
        suspended = newState != ConnectionState.CONNECTED && newState != ConnectionState.RECONNECTED;
    }

    @Override
    public void eventReceived(CuratorFramework client, CuratorEvent event) {
        if (event.getType() == CuratorEventType.CLOSING) {
            lost.complete(null);
        }
    }

    private boolean isClosed() {
        return lock.framework().getState() == CuratorFrameworkState.STOPPED;
    }

    @Override
    public LeaseState state() {
        if (isClosed()) {
            lost.complete(null); // the listener may have come too late
        }
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
        boolean interrupted = Thread.interrupted(); // which would keep Curator from sending the deletion at once
        try {
            lock.lock().release();
        } catch (InterruptedException e) {
            interrupted = true; // Curator repeats the deletion in the background
        } catch (IllegalMonitorStateException e) {
            throw Thread.currentThread() == owner ? e : lock.belongsToADeadThread(owner, e);
        } catch (Exception e) {
            // Without a connection Curator repeats the deletion in the background; a closed framework's nodes go with
            // it.
            if (!CuratorLock.isOfConnection(e) && !isClosed()) {
                throw lock.translated(e);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
