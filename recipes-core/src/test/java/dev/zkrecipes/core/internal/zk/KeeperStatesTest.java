// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;

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
}
