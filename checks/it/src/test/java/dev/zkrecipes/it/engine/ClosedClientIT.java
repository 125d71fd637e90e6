// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An application's handle outlives the clients on it, and must not keep them alive. */
@Timeout(600)
@WithZooKeeper
@Tag("H85")
@Tag("alone")
class ClosedClientIT {
    private static final int CLIENTS = 10;

    private static List<WeakReference<EngineClient>> closedClients(
            ZooKeeper handle, EmbeddedZooKeeper server, FaultProxy proxy, boolean connected) throws Exception {
        List<ZooKeeperClient> clients = new ArrayList<>();
        List<CompletableFuture<Lease>> requests = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            ZooKeeperClient client = ZooKeeperClient.builder()
                    .handle(handle)
                    .requestTimeout(Duration.ofMillis(500))
                    .build();
            assertThat(client.awaitConnected(Duration.ofSeconds(120))).isTrue();
            clients.add(client);
            requests.add(new InterProcessMutex(client, "/one-of-many").acquireAsync());
            // Requests that wait for a permit also watch the rule, and continue to do so for a while.
            requests.add(new InterProcessSemaphore(client, "/one-of-many-permits", 1).acquireAsync());
        }
        Soon.await()
                .until(() -> requests.stream().filter(CompletableFuture::isDone).count() == 2
                        && server.children("/one-of-many").size() == CLIENTS
                        && server.children("/one-of-many-permits").size() == CLIENTS);
        if (!connected) {
            proxy.refuse();
            Soon.await().until(() -> handle.getState() != ZooKeeper.States.CONNECTED);
        }
        clients.forEach(ZooKeeperClient::close);
        return clients.stream().map(EngineClient::of).map(WeakReference::new).toList();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void handle_keepsNoClosedClient(boolean connected, EmbeddedZooKeeper server) throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeper handle = new ZooKeeper(proxy.connectString(), 60_000, event -> {})) {
            List<WeakReference<EngineClient>> closed = closedClients(handle, server, proxy, connected);
            Soon.await().until(() -> {
                System.gc();
                return closed.stream().allMatch(client -> client.refersTo(null));
            });
            assertThat(handle.getState().isAlive()).isTrue();
        }
    }
}
