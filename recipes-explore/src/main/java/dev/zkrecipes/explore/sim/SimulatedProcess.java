// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A process that opens one ZooKeeper handle after another, as a {@code ZooKeeperClient} does, and the faults of its
 * connection. Not thread-safe.
 */
public final class SimulatedProcess implements ZooKeeperOperations.Factory {
    private final SimulatedZooKeeper ensemble;
    private final SimulatedScheduler scheduler;
    private final String name;
    private @Nullable SimulatedSession newest; // the session of the handle that was opened last
    private long cutOffUntil;
    private int opened;

    SimulatedProcess(SimulatedZooKeeper ensemble, SimulatedScheduler scheduler, String name) {
        this.ensemble = ensemble;
        this.scheduler = scheduler;
        this.name = name;
    }

    @Override
    public ZooKeeperOperations open(Consumer<ZooKeeperOperations.State> states) {
        SimulatedSession session = new SimulatedSession(ensemble, this, states);
        newest = session;
        opened++;
        return new SimulatedHandle(session, ensemble.timeout());
    }

    SimulatedScheduler scheduler() {
        return scheduler;
    }

    String name() {
        return name;
    }

    boolean isCutOff() {
        return ensemble.simulation().now() < cutOffUntil;
    }

    /** {@return the number of handles that were opened} */
    public int opened() {
        return opened;
    }

    /** {@return the id of the newest handle's session; 0 before its first connection} */
    public long sessionId() {
        return newest == null ? 0 : newest.id();
    }

    /** {@return the number of watches on the client's side of the newest handle, one for each node and watcher} */
    public int watches() {
        return newest == null ? 0 : newest.watchCount();
    }

    /** Breaks the connection, if there is one. */
    public void disconnect() {
        if (newest != null) {
            newest.disconnect("the connection breaks");
        }
    }

    /**
     * Breaks the connection, if there is one, while a paused server thread holds a write. The thread passes the write
     * on later, even if the session has reconnected to that server by then.
     *
     * @param time how long the thread is paused
     */
    public void disconnectHoldingBack(Duration time) {
        if (newest != null) {
            newest.disconnectHoldingBack(time);
        }
    }

    /**
     * Breaks the connection, if there is one, and makes the servers forget a transaction that only this process has
     * seen. From now on they refuse its session forever, and its client does not learn from them that the session has
     * ended.
     */
    public void outliveData() {
        if (newest != null) {
            newest.outliveData();
        }
    }

    /**
     * Lets nothing through for a while, in either direction. Neither side is notified.
     *
     * @param time how long nothing gets through
     */
    public void stall(Duration time) {
        if (newest != null) {
            newest.stall(time);
        }
    }

    /**
     * Breaks the connection, if there is one, and prevents any other for a while.
     *
     * @param time how long there is no connection
     */
    public void cutOff(Duration time) {
        cutOffUntil = Math.max(cutOffUntil, ensemble.simulation().now() + time.toNanos());
        disconnect();
    }
}
