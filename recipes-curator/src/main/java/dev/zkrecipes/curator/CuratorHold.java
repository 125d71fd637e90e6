// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.spi.ForeignLock;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.CuratorEventType;
import org.apache.curator.framework.api.CuratorListener;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * A lock of Curator's that is held. The framework's connection decides its state. What Curator tells its listeners may be
 * late, as one of the application's may block all others, and may be missing, as a framework that is closed tells them
 * nothing. So the state is also compared with what the framework knows of its handle, which asks nobody.
 */
final class CuratorHold implements ForeignLock.Hold, ConnectionStateListener, CuratorListener {
    private final CuratorLock lock;
    private final Thread owner = Thread.currentThread();
    private final long session;
    private final long handle;
    private final CompletableFuture<Void> lost = new CompletableFuture<>();
    private volatile Callable<Boolean> giveBack = () -> true;
    private volatile boolean suspended;

    private CuratorHold(CuratorLock lock) {
        this.lock = lock;
        this.handle = handle();
        this.session = session();
    }

    static CuratorHold begin(CuratorLock lock) {
        CuratorHold hold = new CuratorHold(lock);
        lock.framework().getCuratorListenable().addListener(hold);
        lock.framework().getConnectionStateListenable().addListener(hold);
        return hold;
    }

    /** Called after the lock was acquired: the listeners may not have heard yet that the session has ended. */
    ForeignLock.Hold withRelease(Callable<Boolean> release) {
        giveBack = release;
        OwnHolds.add(this);
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
        OwnHolds.remove(this);
        lock.framework().getConnectionStateListenable().removeListener(this);
        lock.framework().getCuratorListenable().removeListener(this);
    }

    boolean isOnPathOf(CuratorLock other) {
        return lock.framework() == other.framework() && lock.path().equals(other.path());
    }

    /** The session of the framework now; 0 if there is none yet. */
    private long session() {
        try {
            return lock.framework().getZookeeperClient().getZooKeeper().getSessionId();
        } catch (Exception e) {
            throw lock.translated(e);
        }
    }

    /** The number of the framework's handle, which has another one when its session has ended. */
    private long handle() {
        return lock.framework().getZookeeperClient().getInstanceIndex();
    }

    @Override
    public void stateChanged(CuratorFramework client, ConnectionState newState) {
        if (newState == ConnectionState.LOST) {
            lost.complete(null);
        }
        // A read-only server has no majority behind it, which may end the session meanwhile.
        suspended = newState != ConnectionState.CONNECTED && newState != ConnectionState.RECONNECTED;
    }

    /** A framework with a circuit breaker tells others nothing while that is open. */
    @Override
    public boolean doNotProxy() {
        return true;
    }

    @Override
    public void eventReceived(CuratorFramework client, CuratorEvent event) {
        if (event.getType() == CuratorEventType.CLOSING || isExpiry(event.getWatchedEvent())) {
            lost.complete(null);
        }
    }

    private static boolean isExpiry(@Nullable WatchedEvent event) {
        return event != null
                && event.getType() == Watcher.Event.EventType.None
                && event.getState() == Watcher.Event.KeeperState.Expired;
    }

    @Override
    public LeaseState state() {
        if (lock.isClosed() || handle() != handle) {
            lost.complete(null); // the listener may have come too late, or still wait for its turn
        }
        if (lost.isDone()) {
            return LeaseState.LOST;
        }
        boolean isConnected =
                !suspended && lock.framework().getZookeeperClient().isConnected();
        return isConnected ? LeaseState.HELD : LeaseState.SUSPENDED;
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
            var unused = giveBack.call();
        } catch (IllegalMonitorStateException e) {
            throw Thread.currentThread() == owner ? e : lock.belongsToADeadThread(owner, e);
        } catch (Exception e) {
            // Curator repeats the deletion in the background if it was interrupted or had no connection; a closed
            // framework's nodes go with it.
            if (CuratorLock.isInterrupt(e)) {
                interrupted = true;
            } else if (!CuratorLock.isOfConnection(e) && !lock.isClosed()) {
                throw lock.translated(e);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
