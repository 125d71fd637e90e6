// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What {@link ConnectionState} says of each state. */
@Tag("H94")
class ConnectionStateTest {
    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final List<Consumer<State>> sessions = new ArrayList<>();
    private final ZooKeeperClient client = Ports.clientBuilder(
                    states -> {
                        sessions.add(states);
                        return operations;
                    },
                    scheduler)
            .callbackExecutor(Runnable::run)
            .build();

    @Test
    void sessionAfterAnExpiredOne_isConnectingUntilItIsConnected() {
        List<ConnectionState> told = new ArrayList<>();
        client.addConnectionListener(told::add);
        scheduler.run();
        operations.begin(State.CONNECTING);
        sessions.get(0).accept(State.EXPIRED);
        scheduler.run();
        assertThat(sessions).hasSize(2);
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CONNECTING);
        sessions.get(1).accept(State.CONNECTED);
        assertThat(told)
                .containsExactly(
                        ConnectionState.CONNECTED,
                        ConnectionState.EXPIRED,
                        ConnectionState.CONNECTING,
                        ConnectionState.CONNECTED);
    }

    @Test
    void sessionOfAConnectedHandle_isNeverConnecting() {
        List<ConnectionState> told = new ArrayList<>();
        client.addConnectionListener(told::add);
        scheduler.run();
        sessions.get(0).accept(State.EXPIRED);
        scheduler.run();
        assertThat(told).containsExactly(ConnectionState.CONNECTED, ConnectionState.EXPIRED, ConnectionState.CONNECTED);
    }
}
