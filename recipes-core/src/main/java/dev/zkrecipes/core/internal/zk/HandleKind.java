// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import com.google.common.base.Preconditions;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;

/** Where a client gets its ZooKeeper handles from. The client closes only the handles that it opened itself. */
public sealed interface HandleKind {

    /**
     * The client opens its own sessions to these servers. The application may change the servers while the client is
     * open. Thread-safe.
     */
    final class Opened implements HandleKind {
        private volatile String connectString;

        public Opened(String connectString) {
            this.connectString = connectString;
        }

        public String connectString() {
            return connectString;
        }

        /** Sets the servers for sessions opened from now on. The chroot must be the same. */
        public void use(String other) {
            connectString = other;
        }
    }

    /**
     * The client wraps one handle, which still belongs to the application. Once its session has ended, the client
     * acquires no more locks.
     */
    record Wrapped(ZooKeeper handle) implements HandleKind {
        public Wrapped {
            requireUsable(handle);
        }
    }

    /** The application supplies a new handle whenever the session of the previous one has ended. */
    record Supplied(Supplier<ZooKeeper> supplier) implements HandleKind {
        public Supplied {
            Objects.requireNonNull(supplier, "supplier");
        }
    }

    /** A simulation replaces ZooKeeper, the clock and the threads. */
    record Simulated(ZooKeeperOperations.Factory factory, EngineScheduler scheduler) implements HandleKind {}

    /** Whether the client opens and closes its sessions itself. */
    default boolean ownsSessions() {
        return this instanceof Opened || this instanceof Simulated;
    }

    /**
     * Throws an IllegalArgumentException for a handle that could lose a wake-up, and for a read-only one, through which
     * no node can be created.
     */
    static void requireUsable(ZooKeeper handle) {
        Objects.requireNonNull(handle, "handle");
        requireWatchReset(handle.getClientConfig());
        Preconditions.checkArgument(
                handle.getState() != ZooKeeper.States.CONNECTEDREADONLY,
                "the ZooKeeper handle 0x%s is read-only: locks need a handle opened with canBeReadOnly = false",
                Long.toHexString(handle.getSessionId()));
    }

    /**
     * Throws an IllegalArgumentException for a configuration under which ZooKeeper's client forgets its watches when it
     * reconnects.
     */
    static void requireWatchReset(ZKClientConfig config) {
        Preconditions.checkArgument(
                !config.getBoolean(ZKClientConfig.DISABLE_AUTO_WATCH_RESET),
                "%s is set: waiting locks would never be woken after a reconnect",
                ZKClientConfig.DISABLE_AUTO_WATCH_RESET);
    }
}
