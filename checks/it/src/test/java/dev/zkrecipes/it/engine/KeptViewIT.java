// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Others break what a client knows of a queue, on a real server. The explorer mixes the same with faults. */
class KeptViewIT extends ServerStage {
    private static final int USES = 3; // from the next one on, a free lock is a create without a list

    private InterProcessMutex mutex;
    private ZooKeeper stranger;

    @BeforeEach
    void knowTheQueue() throws Exception {
        path = path + "/lock";
        mutex = new InterProcessMutex(client(), path);
        stranger = client().zooKeeper().orElseThrow();
        for (int use = 0; use < USES; use++) {
            mutex.acquire().close();
        }
    }

    private String create(String name, CreateMode mode) throws Exception {
        return stranger.create(path + "/" + name, new byte[0], Ids.OPEN_ACL_UNSAFE, mode);
    }

    /** The mutex waits until the stranger's node is gone, and not longer. */
    private void assertWaitsFor(String node) throws Exception {
        CompletableFuture<Lease> waiting = mutex.acquireAsync();
        await().untilAsserted(() -> assertThat(server.childWatchers(node)).hasSize(1));
        assertThat(waiting).isNotDone();
        stranger.delete(node, -1);
        waiting.get(1, TimeUnit.MINUTES).close();
    }

    /** Such a create counts like any other, although the server gives the node no number. */
    @Test
    @Tag("H154")
    void nodeThatWasNamedByHand_isSeen() throws Exception {
        assertWaitsFor(create("lock-0000000002", CreateMode.EPHEMERAL));
    }

    /** The same path has another name for each client, and each client knows its queue. */
    @Test
    @Tag("H154")
    void clientBelowAChroot_takesTurns() throws Exception {
        String parent = path.substring(0, path.lastIndexOf('/'));
        ZooKeeperClient below = client(settings(server.connectString() + parent));
        InterProcessMutex same = new InterProcessMutex(below, "/lock");
        for (int use = 0; use < USES; use++) {
            same.acquire().close();
        }
        for (InterProcessMutex first : List.of(mutex, same, mutex)) {
            InterProcessMutex second = first == mutex ? same : mutex;
            Lease held = first.acquire();
            CompletableFuture<Lease> waiting = second.acquireAsync();
            await().untilAsserted(() -> assertThat(queueWatches(path)).isPositive());
            assertThat(waiting).isNotDone();
            held.close();
            waiting.get(1, TimeUnit.MINUTES).close();
        }
    }

    /** Without the right to READ, no event tells of the path any more; the numbers still tell of others. */
    @Test
    @Tag("H154")
    void pathThatMayNotBeRead_isGrantedAlone_andNeverBesideAnother() throws Exception {
        List<ACL> withoutRead = new ArrayList<>(List.of(new ACL(Perms.CREATE | Perms.DELETE, Ids.ANYONE_ID_UNSAFE)));
        stranger.setACL(path, withoutRead, -1);
        mutex.acquire().close();
        String node = create("lock-", CreateMode.EPHEMERAL_SEQUENTIAL);
        assertThatThrownBy(mutex::acquire)
                .isInstanceOf(LockAccessException.class)
                .hasMessageContaining(path);
        stranger.delete(node, -1);
    }
}
