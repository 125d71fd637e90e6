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

/** Where a client gets its ZooKeeper handles from. The client closes only the handles that it has opened itself. */
public sealed interface HandleKind {

    /**
     * The client opens its own sessions to these servers. The application may change the servers while the client
     * lives. Thread-safe.
     */
    final class Opened implements HandleKind {
        private volatile String connectString;

        public Opened(String connectString) {
            this.connectString = connectString;
        }

        public String connectString() {
            return connectString;
        }

        /** Sets the servers for the sessions that are opened from now on. The chroot must be the same. */
        public void use(String other) {
            connectString = other;
        }
    }

    /**
     * The application gave one handle, which it keeps. Once its session has ended, the client acquires no more locks.
     */
    record Wrapped(ZooKeeper handle) implements HandleKind {
        public Wrapped {
            requireUsable(handle);
        }
    }

    /** The application supplies a new handle whenever the session of the last one has ended. */
    record Supplied(Supplier<ZooKeeper> supplier) implements HandleKind {
        public Supplied {
            Objects.requireNonNull(supplier, "supplier");
        }
    }

    /** A simulation stands in for ZooKeeper, for the clock and for the threads. */
    record Simulated(ZooKeeperOperations.Factory factory, EngineScheduler scheduler) implements HandleKind {}

    /** Whether the client opens and closes its sessions itself. */
    default boolean ownsSessions() {
        return this instanceof Opened || this instanceof Simulated;
    }

    /** Refuses a handle on which a wake-up could be lost, and a read-only one, on which no node can be created. */
    static void requireUsable(ZooKeeper handle) {
        Objects.requireNonNull(handle, "handle");
        requireWatchReset(handle.getClientConfig());
        Preconditions.checkArgument(
                handle.getState() != ZooKeeper.States.CONNECTEDREADONLY,
                "the ZooKeeper handle 0x%s is read-only: locks need a handle opened with canBeReadOnly = false",
                Long.toHexString(handle.getSessionId()));
    }

    /** Refuses a configuration under which ZooKeeper's client forgets its watches when it reconnects. */
    static void requireWatchReset(ZKClientConfig config) {
        Preconditions.checkArgument(
                !config.getBoolean(ZKClientConfig.DISABLE_AUTO_WATCH_RESET),
                "%s is set: waiting locks would never be woken after a reconnect",
                ZKClientConfig.DISABLE_AUTO_WATCH_RESET);
    }
}
