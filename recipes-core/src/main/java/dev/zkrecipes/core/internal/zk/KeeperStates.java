// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.Optional;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Translates ZooKeeper's session events. */
public final class KeeperStates {
    private static final Logger log = LoggerFactory.getLogger(KeeperStates.class);

    private KeeperStates() {}

    /**
     * The state that an event tells of.
     *
     * @param event null if the client could not even begin to log in, after which it has refused all requests
     */
    public static Optional<State> of(@Nullable KeeperState event, ZooKeeper handle) {
        if (event == null) {
            return authFailed(handle);
        }
        return switch (event) {
            case SyncConnected -> Optional.of(State.CONNECTED);
            case ConnectedReadOnly -> Optional.of(State.READ_ONLY);
            case Disconnected -> Optional.of(State.DISCONNECTED);
            case Expired -> Optional.of(State.EXPIRED);
            case Closed -> Optional.of(State.CLOSED);
            case AuthFailed -> authFailed(handle);
            default -> Optional.empty(); // a login that succeeded, and two that ZooKeeper does not send any more
        };
    }

    private static Optional<State> authFailed(ZooKeeper handle) {
        if (handle.getState() == ZooKeeper.States.AUTH_FAILED) {
            return Optional.of(State.AUTH_FAILED);
        }
        log.warn("ZooKeeper's SASL login failed and the connection continues without it; check the SASL settings.");
        return Optional.empty();
    }
}
