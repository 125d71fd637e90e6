// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.ZooKeeperClient;
import java.time.Duration;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
@WithZooKeeper
class TestClientsIT {
    @Test
    void client_isConnectedAndHasTheSessionAskedFor(EmbeddedZooKeeper server) throws InterruptedException {
        try (ZooKeeperClient client = TestClients.connect(server.connectString(), Duration.ofSeconds(7))) {
            assertThat(client.connectionState()).isEqualTo(ConnectionState.CONNECTED);
            assertThat(client.zooKeeper().map(ZooKeeper::getSessionTimeout)).contains(7_000);
        }
    }

    @Test
    void clientsOfAGroup_areClosedTogether(EmbeddedZooKeeper server) throws InterruptedException {
        ZooKeeperClient first;
        try (FaultProxy proxy = FaultProxy.to(server);
                TestClients clients = TestClients.of(server)) {
            first = clients.open();
            clients.open(proxy.connectString());
            assertThat(clients.get(0)).isSameAs(first);
            assertThat(server.sessions()).hasSize(2);
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> clients.get(2));
        }
        await().until(() -> server.sessions().isEmpty());
        assertThat(first.connectionState()).isEqualTo(ConnectionState.CLOSED);
    }

    @Test
    void unconnectedClient_failsTheTest_andIsClosed() {
        try (EmbeddedZooKeeper stopped = EmbeddedZooKeeper.start()) {
            stopped.stop();
            ZooKeeperClient client = ZooKeeperClient.connect(stopped.connectString());
            assertThatThrownBy(() -> TestClients.connected(client, Duration.ofMillis(200)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("a client was not connected after ");
            assertThat(client.connectionState()).isEqualTo(ConnectionState.CLOSED);
        }
    }
}
