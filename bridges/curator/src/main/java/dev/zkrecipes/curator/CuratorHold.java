// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.spi.ForeignLock;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.CuratorListener;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.ZooKeeper;

/**
 * A hold of a Curator lock, bound to the session of one handle of the framework. The hold is lost when the framework
 * has replaced that handle, when the handle is no longer alive, or when the framework is closed. Curator replaces the
 * handle before it notifies listeners of the end of the session.
 *
 * <p>Curator may notify late, because one listener of the application can block all others. A notification may
 * therefore concern the previous session, and a reported loss counts only if the handle confirms it. Until Curator is
 * connected again, an unconfirmed loss suspends the hold.
 */
final class CuratorHold implements ForeignLock.Hold, ConnectionStateListener, CuratorListener {
    private final CuratorLock lock;
    private final Thread owner = Thread.currentThread();
    private final long handle;
    private final ZooKeeper zooKeeper;
    private final CompletableFuture<Void> lost = new CompletableFuture<>();
    private volatile Callable<Boolean> giveBack = () -> true;
    private volatile boolean suspended;
    private volatile boolean isGivenBack; // Curator has no record of the hold any more

    private CuratorHold(CuratorLock lock) {
        this.lock = lock;
        this.handle = handle();
        this.zooKeeper = zooKeeper();
    }

    static CuratorHold begin(CuratorLock lock) {
        CuratorHold hold = new CuratorHold(lock);
        lock.framework().getCuratorListenable().addListener(hold);
        lock.framework().getConnectionStateListenable().addListener(hold);
        return hold;
    }

    /**
     * Completes the hold after the acquire has succeeded. If the framework has replaced its handle by now, the lock was
     * acquired in another session, and the hold counts as lost.
     */
    ForeignLock.Hold withRelease(Callable<Boolean> release) {
        giveBack = release;
        OwnHolds.add(this);
        return this;
    }

    void end() {
        OwnHolds.remove(this);
        lock.framework().getConnectionStateListenable().removeListener(this);
        lock.framework().getCuratorListenable().removeListener(this);
    }

    /** Whether Curator has released the lock, on whichever thread. */
    boolean isGivenBack() {
        return isGivenBack;
    }

    boolean isOnPathOf(CuratorLock other) {
        return lock.framework() == other.framework() && lock.path().equals(other.path());
    }

    /** Returns the framework's current handle. A handle has only one session during its lifetime. */
    private ZooKeeper zooKeeper() {
        try {
            return Objects.requireNonNull(lock.framework().getZookeeperClient().getZooKeeper(), "closed meanwhile");
        } catch (Exception e) {
            throw lock.translated(e);
        }
    }

    /**
     * Returns the index of the framework's current handle. The framework gets another handle when its session has
     * ended.
     */
    private long handle() {
        return lock.framework().getZookeeperClient().getInstanceIndex();
    }

    /**
     * Marks the hold as lost if the framework or its handle shows that the session has ended. Every event, whatever its
     * type, triggers this check.
     */
    private void noticeLoss() {
        if (lock.isClosed() || handle() != handle || !zooKeeper.getState().isAlive()) {
            lost.complete(null);
        }
    }

    @Override
    public void stateChanged(CuratorFramework client, ConnectionState newState) {
        // READ_ONLY suspends, too: a read-only server is cut off from the quorum, which may meanwhile end the session.
        suspended = newState != ConnectionState.CONNECTED && newState != ConnectionState.RECONNECTED;
        noticeLoss();
    }

    /** Bypasses the framework's circuit breaker, which withholds events from proxied listeners while it is open. */
    @Override
    public boolean doNotProxy() {
        return true;
    }

    @Override
    public void eventReceived(CuratorFramework client, CuratorEvent event) {
        noticeLoss();
    }

    @Override
    public LeaseState state() {
        noticeLoss(); // the listener may be registered too late, or its event may still be queued
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
    public void releaseByOwner() {
        if (!isGivenBack) {
            release();
        }
    }

    @Override
    public void release() {
        end();
        boolean interrupted = Thread.interrupted(); // a set flag would keep Curator from sending the deletion at once
        try {
            var unused = giveBack.call();
            isGivenBack = true;
        } catch (Exception e) {
            if (Thread.currentThread() != owner && CuratorLock.isOfAnotherThread(e)) {
                throw lock.belongsToAnotherThread(owner, e);
            }
            isGivenBack = true;
            // After an interrupt or a connection failure, Curator retries the deletion in the background. The nodes of
            // a closed framework disappear with its session.
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
