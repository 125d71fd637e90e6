// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.Optional;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KeeperStatesTest {
    private final ZooKeeper handle = mock(ZooKeeper.class);

    /** ZooKeeper's client tells no state if it could not make what logs in, as with DIGEST-MD5 in FIPS mode. */
    @Test
    void eventWithoutAState_isAFailedLogin() {
        when(handle.getState()).thenReturn(ZooKeeper.States.AUTH_FAILED);
        assertThat(KeeperStates.of(null, handle)).contains(State.AUTH_FAILED);
    }

    @Test
    void failedLoginOnAConnectionThatContinues_isNoState() {
        when(handle.getState()).thenReturn(ZooKeeper.States.CONNECTED);
        assertThat(KeeperStates.of(KeeperState.AuthFailed, handle)).isEmpty();
    }

    /** By name: two are deprecated. */
    private static Optional<State> expected(KeeperState event) {
        return switch (event.name()) {
            case "SyncConnected" -> Optional.of(State.CONNECTED);
            case "ConnectedReadOnly" -> Optional.of(State.READ_ONLY);
            case "Disconnected" -> Optional.of(State.DISCONNECTED);
            case "Expired" -> Optional.of(State.EXPIRED);
            case "Closed" -> Optional.of(State.CLOSED);
            case "AuthFailed" -> Optional.of(State.AUTH_FAILED);
            // The first two are never sent; after the third SyncConnected has come, or comes.
            case "Unknown", "NoSyncConnected", "SaslAuthenticated" -> Optional.empty();
            default -> throw new AssertionError("nobody has decided what " + event + " means");
        };
    }

    @ParameterizedTest
    @EnumSource
    @Tag("H110")
    void everyEvent_isAStateOrNone(KeeperState event) {
        when(handle.getState()).thenReturn(ZooKeeper.States.AUTH_FAILED);
        assertThat(KeeperStates.of(event, handle)).isEqualTo(expected(event));
    }
}
