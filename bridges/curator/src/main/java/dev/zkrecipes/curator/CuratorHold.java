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
 * A lock of Curator's that is held, in the session of one handle of the framework. It is lost when the framework has
 * another handle, or when the handle itself has ended. Curator replaces a handle before it tells of the session's end.
 *
 * <p>What Curator tells its listeners may be late, as one of the application's may block all others. So it may also be
 * about the session before, and a loss counts only if the handle agrees. Until Curator is connected again, such a loss
 * suspends the hold.
 */
final class CuratorHold implements ForeignLock.Hold, ConnectionStateListener, CuratorListener {
    private final CuratorLock lock;
    private final Thread owner = Thread.currentThread();
    private final long handle;
    private final ZooKeeper zooKeeper;
    private final CompletableFuture<Void> lost = new CompletableFuture<>();
    private volatile Callable<Boolean> giveBack = () -> true;
    private volatile boolean suspended;

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

    /** Called after the lock was acquired, which was in another session if the framework has another handle by now. */
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

    boolean isOnPathOf(CuratorLock other) {
        return lock.framework() == other.framework() && lock.path().equals(other.path());
    }

    /** The framework's handle now. It has one session in all its life. */
    private ZooKeeper zooKeeper() {
        try {
            return Objects.requireNonNull(lock.framework().getZookeeperClient().getZooKeeper(), "closed meanwhile");
        } catch (Exception e) {
            throw lock.translated(e);
        }
    }

    /** The number of the framework's handle, which has another one when its session has ended. */
    private long handle() {
        return lock.framework().getZookeeperClient().getInstanceIndex();
    }

    /** Whatever happened is an occasion to look at the handle. */
    private void noticeLoss() {
        if (lock.isClosed() || handle() != handle || !zooKeeper.getState().isAlive()) {
            lost.complete(null);
        }
    }

    @Override
    public void stateChanged(CuratorFramework client, ConnectionState newState) {
        // A read-only server has no majority behind it, which may end the session meanwhile.
        suspended = newState != ConnectionState.CONNECTED && newState != ConnectionState.RECONNECTED;
        noticeLoss();
    }

    /** A framework with a circuit breaker tells others nothing while that is open. */
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
        noticeLoss(); // the listener may have come too late, or still wait for its turn
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
