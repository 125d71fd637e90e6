// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.state.ConnectionState;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Our locks on the handle that a CuratorFramework opens, and replaces when its session has ended. */
class CuratorClientsIT extends ServerStage {
    private CuratorFramework curator;
    private ZooKeeperClient client;

    @BeforeEach
    void open() throws InterruptedException {
        curator = opened(Curators.connect(server));
        client = opened(CuratorClients.over(curator));
        assertThat(client.awaitConnected(Duration.ofSeconds(120))).isTrue();
    }

    @Test
    @Tag("H01")
    void replacedHandle_losesTheLease_andServesTheNextAcquire() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, "/handle/replaced");
        Lease held = mutex.acquire();
        CompletableFuture<Lease> waiting = new InterProcessMutex(client, "/handle/replaced").acquireAsync();
        long first = CuratorHandle.of(curator).getSessionId();
        List<ConnectionState> told = new CopyOnWriteArrayList<>();
        curator.getConnectionStateListenable().addListener((framework, state) -> told.add(state));
        server.expireSession(first);

        Soon.await().until(() -> held.state() == LeaseState.LOST);
        Lease next = Soon.get(waiting);
        Soon.await().until(next::isValid);
        assertThat(CuratorHandle.of(curator).getSessionId()).isNotEqualTo(first);
        held.close();
        next.close();
        mutex.acquire().close();
        Soon.await().until(() -> told.contains(ConnectionState.LOST) && told.contains(ConnectionState.RECONNECTED));
        assertThat(server.ephemerals(CuratorHandle.of(curator).getSessionId())).isEmpty();
    }

    @Test
    @Tag("H29")
    void curatorsWatchesAndHandle_areLeftAlone() throws Exception {
        AtomicInteger news = new AtomicInteger();
        try (CuratorCache cache = CuratorCache.build(curator, "/handle/shared")) {
            cache.listenable().addListener((type, before, after) -> news.incrementAndGet());
            cache.start();
            InterProcessMutex mutex = new InterProcessMutex(client, "/handle/shared");
            Lease held = mutex.acquire();
            CompletableFuture<Lease> waiting = new InterProcessMutex(client, "/handle/shared").acquireAsync();
            Soon.await().until(() -> server.children("/handle/shared").size() == 2);
            held.close();
            Soon.get(waiting).close();
            assertThat(mutex.tryAcquire(Duration.ofSeconds(120))).isPresent().hasValueSatisfying(Lease::close);
            client.close();
            Soon.await().until(() -> server.children("/handle/shared").isEmpty());

            int before = news.get();
            curator.setData().forPath("/handle/shared", new byte[] {1});
            Soon.await().until(() -> news.get() > before);
        }
        assertThat(CuratorHandle.of(curator).getState().isConnected()).isTrue();
    }
}
