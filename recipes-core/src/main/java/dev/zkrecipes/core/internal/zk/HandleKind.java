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

/** Where a client gets its handles from. */
public sealed interface HandleKind {

    /** Own sessions to these servers, which may change while the client lives. */
    final class Opened implements HandleKind {
        private volatile String connectString;

        public Opened(String connectString) {
            this.connectString = connectString;
        }

        public String connectString() {
            return connectString;
        }

        /** Changes to other servers, with the same chroot. */
        public void use(String other) {
            connectString = other;
        }
    }

    /** One handle of the application's. */
    record Wrapped(ZooKeeper handle) implements HandleKind {
        public Wrapped {
            requireUsable(handle);
        }
    }

    /** Handles that the application replaces. */
    record Supplied(Supplier<ZooKeeper> supplier) implements HandleKind {
        public Supplied {
            Objects.requireNonNull(supplier, "supplier");
        }
    }

    /** What stands in for ZooKeeper in a simulation. */
    record Simulated(ZooKeeperOperations.Factory factory, EngineScheduler scheduler) implements HandleKind {
        public Simulated {
            Objects.requireNonNull(factory, "factory");
            Objects.requireNonNull(scheduler, "scheduler");
        }
    }

    /** Whether the client opens and closes its sessions itself. */
    default boolean ownsSessions() {
        return this instanceof Opened || this instanceof Simulated;
    }

    /** Refuses handles on which a wake-up can be lost or whose writes go nowhere. */
    static void requireUsable(ZooKeeper handle) {
        Objects.requireNonNull(handle, "handle");
        requireWatchReset(handle.getClientConfig());
        Preconditions.checkArgument(
                handle.getState() != ZooKeeper.States.CONNECTEDREADONLY,
                "the ZooKeeper handle 0x%s is read-only: locks need a handle opened with canBeReadOnly = false",
                Long.toHexString(handle.getSessionId()));
    }

    /** Refuses a configuration under which the client forgets its watches when it reconnects. */
    static void requireWatchReset(ZKClientConfig config) {
        Preconditions.checkArgument(
                !config.getBoolean(ZKClientConfig.DISABLE_AUTO_WATCH_RESET),
                "%s is set: waiting locks would never be woken after a reconnect",
                ZKClientConfig.DISABLE_AUTO_WATCH_RESET);
    }
}
