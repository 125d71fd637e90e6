// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that is told of other servers while it lives: here two ways to the same one. */
class ChangedServersIT extends ServerStage {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private FaultProxy before;
    private FaultProxy after;

    @BeforeEach
    void open() {
        before = proxy();
        after = proxy();
    }

    private ZooKeeperClientBuilder builder() {
        return ZooKeeperClient.builder().connectString(before.connectString()).sessionTimeout(Duration.ofSeconds(30));
    }

    private static void awaitConnected(ZooKeeperClient client) throws InterruptedException {
        assertThat(client.awaitConnected(LIMIT)).isTrue();
    }

    @Test
    void newServers_areUsedByThisSessionAndTheNext() throws Exception {
        ZooKeeperClient client = opened(builder().build());
        Lease lease = new InterProcessMutex(client, "/changed").acquire();
        ZooKeeper handle = client.zooKeeper().orElseThrow();
        client.updateConnectString(after.connectString());
        Soon.await().atMost(LIMIT).until(() -> before.connections() == 0 && after.connections() == 1);
        Soon.await().ignoreExceptions().untilAsserted(lease::verify);
        assertThat(client.zooKeeper()).contains(handle);
        assertThat(client).asString().contains(after.connectString()).doesNotContain(before.connectString());

        server.expireSession(handle.getSessionId());
        Soon.await()
                .until(() -> !client.zooKeeper().equals(Optional.of(handle))
                        && client.connectionState() == ConnectionState.CONNECTED);
        // The connections of the session before, and of a look for the reason, may end later.
        Soon.await().until(() -> after.connections() == 1);
        assertThat(before.connections()).isZero();
    }

    @Test
    void newServers_helpAClientThatHasNeverBeenConnected() throws Exception {
        before.refuse();
        // soon looks for the reason, by connections of its own
        try (ZooKeeperClient client =
                builder().requestTimeout(Duration.ofMillis(500)).build()) {
            assertTrouble(client, before);
            after.refuse();
            client.updateConnectString(after.connectString());
            assertTrouble(client, after);
            after.accept();
            awaitConnected(client);
        }
    }

    private static void assertTrouble(ZooKeeperClient client, FaultProxy named) {
        InterProcessMutex mutex = new InterProcessMutex(client, "/changed");
        Soon.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThatThrownBy(mutex::tryAcquire)
                        .isInstanceOf(LockConnectionException.class)
                        .hasMessageContaining(named.connectString() + " refuses connections"));
    }

    /** Servers that are ahead say that the session is over; others refuse a client that has seen more than they have. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void serversOfAnotherEnsemble_endTheSession_andHaveOtherLocks(boolean isAhead) throws Exception {
        try (EmbeddedZooKeeper other = EmbeddedZooKeeper.start();
                ZooKeeperClient former = builder().build();
                ZooKeeperClient client =
                        builder().sessionTimeout(Duration.ofSeconds(4)).build()) {
            for (int i = 0; i < 20; i++) {
                (isAhead ? other : server).createNode("/" + i, new byte[0]);
            }
            Lease lost = new InterProcessMutex(client, "/moved").acquire();
            client.updateConnectString(other.connectString());
            Soon.await().atMost(LIMIT).until(() -> lost.state() == LeaseState.LOST);
            lost.close();
            // In this order, as the short session may be over again when the machine has stood still.
            Lease here = new InterProcessMutex(former, "/moved").acquire();
            Lease there = new InterProcessMutex(client, "/moved").acquire();
            Soon.await().until(here::isValid);
            there.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a:", "a:2181/app,b:2181/app", "zk://a", "127.0.0.1:1/another"})
    void wrongServers_areRefusedAndChangeNothing(String wrong) throws Exception {
        ZooKeeperClient client = opened(builder().build());
        awaitConnected(client);
        // If that takes long, the client also looks for the reason, by a connection of its own.
        Soon.await().until(() -> before.connections() == 1);
        assertThatIllegalArgumentException().isThrownBy(() -> client.updateConnectString(wrong));
        assertThat(client).asString().contains(before.connectString());
        assertThat(before.connections()).isEqualTo(1);
    }

    @Test
    void clientsOfOneBuilder_changeTheirServersEachForItself() throws Exception {
        // An idle handle of ZooKeeper's sees only with its next ping, after a third of the time-out, that it was moved.
        ZooKeeperClientBuilder builder = builder().sessionTimeout(Duration.ofSeconds(12));
        try (ZooKeeperClient one = builder.build();
                ZooKeeperClient other = builder.build()) {
            awaitConnected(one);
            awaitConnected(other);
            one.updateConnectString(after.connectString());
            Soon.await()
                    .atMost(LIMIT)
                    .untilAsserted(() -> assertThat(List.of(before.connections(), after.connections()))
                            .as("before, after; %s; %s", one, other)
                            .containsExactly(1, 1));
            assertThat(other).asString().contains(before.connectString());
        }
    }

    @Test
    void handlesOfTheApplication_keepTheirServers() throws Exception {
        ZooKeeper handle = opened(new ZooKeeper(before.connectString(), 30_000, event -> {}));
        ZooKeeperClient wrapped = opened(ZooKeeperClient.wrap(handle));
        ZooKeeperClient supplied = opened(ZooKeeperClient.over(() -> handle));
        for (ZooKeeperClient client : new ZooKeeperClient[] {wrapped, supplied}) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> client.updateConnectString(after.connectString()))
                    .withMessageContaining("call updateServerList of these handles");
        }
    }

    @Test
    void closedClient_saysSo() {
        ZooKeeperClient client = builder().build();
        client.close();
        assertThatThrownBy(() -> client.updateConnectString(after.connectString()))
                .isInstanceOf(ClientClosedException.class);
    }
}
