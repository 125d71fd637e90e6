// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The state of a client is that of the session that it uses, also if it was given that one before. */
@Tag("H89")
class ReplacedHandlesIT extends ServerStage {
    private ZooKeeper handle(int sessionMillis) throws Exception {
        ZooKeeper handle = new ZooKeeper(server.connectString(), sessionMillis, event -> {});
        Soon.await().until(() -> handle.getState() == ZooKeeper.States.CONNECTED);
        return handle;
    }

    private static void use(ZooKeeperClient client, String path) {
        Soon.get(Soon.get(new InterProcessMutex(client, path).acquireAsync()).closeAsync());
    }

    @Test
    void latestSuppliedHandle_determinesTheState() throws Exception {
        ZooKeeper first = opened(handle(20_000));
        ZooKeeper second = opened(handle(40_000));
        AtomicReference<ZooKeeper> current = new AtomicReference<>(first);
        ZooKeeperClient client = opened(ZooKeeperClient.over(current::get));
        Lease held = Soon.get(new InterProcessMutex(client, "/held").acquireAsync());
        current.set(second);
        use(client, "/other");
        assertThat(client.zooKeeper()).containsSame(second);
        current.set(first);
        use(client, "/another");
        assertThat(client.zooKeeper()).containsSame(first);

        List<ConnectionState> told = new CopyOnWriteArrayList<>();
        client.addConnectionListener(told::add);
        current.set(second);
        Lease lost = Soon.get(new InterProcessMutex(client, "/lost").acquireAsync());
        current.set(first);
        use(client, "/another");
        server.expireSession(second.getSessionId());
        Soon.await().until(() -> lost.state() == LeaseState.LOST);
        use(client, "/another");
        assertThat(held.state()).isIn(LeaseState.HELD, LeaseState.SUSPENDED);
        Soon.await().until(() -> client.connectionState() == ConnectionState.CONNECTED);
        assertThat(told).doesNotContain(ConnectionState.EXPIRED, ConnectionState.SUSPENDED);
        assertThat(client.zooKeeper()).containsSame(first);
        held.close();
        lost.close();
    }
}
