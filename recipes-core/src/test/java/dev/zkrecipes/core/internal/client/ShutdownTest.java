// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.spi.port.PortClientBuilder;
import org.junit.jupiter.api.Test;

class ShutdownTest {
    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final ZooKeeperClient client =
            PortClientBuilder.on(states -> operations, scheduler).build();

    @Test
    void clientThatGetsNoThread_closesItsHandleAllTheSame() {
        scheduler.run();
        scheduler.refuseThreads();
        client.close();
        scheduler.run();
        assertThat(operations.isClosed()).isTrue();
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CLOSED);
    }
}
