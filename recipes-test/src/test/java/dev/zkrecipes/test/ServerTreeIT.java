// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import static dev.zkrecipes.test.internal.Soon.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.BYTE_ARRAY;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.NoNodeException;
import org.apache.zookeeper.KeeperException.NotEmptyException;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.server.ServerMetrics;
import org.junit.jupiter.api.Test;

@WithZooKeeper
class ServerTreeIT {
    private static final Duration LIMIT = Client.LIMIT;
    private static final byte[] NOTHING = new byte[0];

    @Test
    void reads_seeNodesOfClients(EmbeddedZooKeeper server) throws KeeperException, InterruptedException {
        try (Client client = Client.connect(server.connectString())) {
            client.create("/reads");
            client.create("/reads/b", CreateMode.EPHEMERAL);
            client.create("/reads/a");
            client.zk().setData("/reads/a", "x".getBytes(UTF_8), -1);
            client.create("/reads/container", CreateMode.CONTAINER);
            long zxid = client.zk().exists("/reads/container", false).getCzxid();

            assertThat(server.children("/reads")).containsExactly("a", "b", "container");
            assertThat(server.data("/reads/a")).get(BYTE_ARRAY).asString(UTF_8).isEqualTo("x");
            assertThat(server.owner("/reads/b")).hasValue(client.session());
            assertThat(server.owner("/reads/a")).isEmpty();
            assertThat(server.owner("/reads/container")).isEmpty();
            assertThat(server.ephemerals(client.session())).containsExactly("/reads/b");
            assertThat(server.lastZxid()).isEqualTo(zxid);
        }
    }

    @Test
    void readsOfAbsentNode_areEmpty(EmbeddedZooKeeper server) {
        assertThat(server.nodeExists("/absent")).isFalse();
        assertThat(server.children("/absent")).isEmpty();
        assertThat(server.data("/absent")).isEmpty();
        assertThat(server.owner("/absent")).isEmpty();
        assertThat(server.ephemerals(0x4711)).isEmpty();
    }

    @Test
    void changes_fireWatches(EmbeddedZooKeeper server)
            throws KeeperException, InterruptedException, ExecutionException, TimeoutException {
        try (Client client = Client.connect(server.connectString())) {
            CompletableFuture<EventType> created = client.watch("/changes");
            server.createNode("/changes", NOTHING);
            assertThat(created.get(120, TimeUnit.SECONDS)).isEqualTo(EventType.NodeCreated);

            CompletableFuture<EventType> changed = client.watch("/changes");
            server.setData("/changes", "x".getBytes(UTF_8));
            assertThat(changed.get(120, TimeUnit.SECONDS)).isEqualTo(EventType.NodeDataChanged);
            assertThat(client.zk().getData("/changes", false, null))
                    .asString(UTF_8)
                    .isEqualTo("x");

            CompletableFuture<EventType> deleted = client.watch("/changes");
            server.deleteNode("/changes");
            assertThat(deleted.get(120, TimeUnit.SECONDS)).isEqualTo(EventType.NodeDeleted);
            assertThat(server.nodeExists("/changes")).isFalse();
        }
    }

    @Test
    void changes_areNotRefusedByAcls(EmbeddedZooKeeper server) throws KeeperException, InterruptedException {
        try (Client client = Client.connect(server.connectString())) {
            client.zk().addAuthInfo("digest", "owner:secret".getBytes(UTF_8));
            client.zk().create("/guarded", NOTHING, Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
            server.createNode("/guarded/child", NOTHING);
            server.setData("/guarded", "x".getBytes(UTF_8));
            server.deleteNode("/guarded/child");
            assertThat(server.children("/guarded")).isEmpty();
        }
    }

    @Test
    void changes_surviveRestart(EmbeddedZooKeeper server) {
        server.createNode("/survivor", "x".getBytes(UTF_8));
        server.restart();
        assertThat(server.data("/survivor")).get(BYTE_ARRAY).asString(UTF_8).isEqualTo("x");
    }

    @Test
    void refusedChange_hasItsReason(EmbeddedZooKeeper server) {
        assertThatThrownBy(() -> server.deleteNode("/refused"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("delete /refused")
                .hasCauseInstanceOf(NoNodeException.class);
        assertThatThrownBy(() -> server.createNode("/refused/child", NOTHING))
                .hasCauseInstanceOf(NoNodeException.class);
        server.createNode("/parent", NOTHING);
        server.createNode("/parent/child", NOTHING);
        assertThatThrownBy(() -> server.deleteNode("/parent")).hasCauseInstanceOf(NotEmptyException.class);
        assertThatThrownBy(() -> server.createNode("/ephemeral", NOTHING, CreateMode.EPHEMERAL))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("EPHEMERAL");
    }

    @Test
    void sequenceCounter_givesTheNextNumberAndSurvivesRestart(EmbeddedZooKeeper server) {
        long mismatches = ServerMetrics.getMetrics().DIGEST_MISMATCHES_COUNT.get();
        server.createNode("/aged", NOTHING);
        server.setSequenceCounter("/aged", 1_000_000);
        assertThat(nextChildOf(server, "/aged")).isEqualTo("/aged/n-0001000000");
        server.setSequenceCounter("/aged", 2_000_000);
        server.restart();
        assertThat(nextChildOf(server, "/aged")).isEqualTo("/aged/n-0002000000");
        server.restart();
        assertThat(nextChildOf(server, "/aged")).isEqualTo("/aged/n-0002000001");
        assertThat(ServerMetrics.getMetrics().DIGEST_MISMATCHES_COUNT.get()).isEqualTo(mismatches);
    }

    @Test
    void sequenceCounter_sticksAtItsEnd(EmbeddedZooKeeper server) throws KeeperException, InterruptedException {
        server.createNode("/old", NOTHING);
        server.setSequenceCounter("/old", Integer.MAX_VALUE);
        assertThat(nextChildOf(server, "/old")).isEqualTo("/old/n-2147483647");
        try (Client client = Client.connect(server.connectString())) {
            assertThat(client.create("/old/m-", CreateMode.EPHEMERAL_SEQUENTIAL))
                    .isEqualTo("/old/m-2147483647");
        }
    }

    @Test
    void sequenceCounter_neverGoesBack(EmbeddedZooKeeper server) {
        server.createNode("/counter", NOTHING);
        server.setSequenceCounter("/counter", 10);
        assertThatThrownBy(() -> server.setSequenceCounter("/counter", 9))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("10 already");
        server.setSequenceCounter("/counter", 10);
        assertThat(nextChildOf(server, "/counter")).isEqualTo("/counter/n-0000000010");
        assertThatThrownBy(() -> server.setSequenceCounter("/nowhere", 9)).hasMessageContaining("no such node");
    }

    @Test
    void emptyContainers_areRemovedOnRequest(EmbeddedZooKeeper server) throws KeeperException, InterruptedException {
        server.createNode("/emptied", NOTHING, CreateMode.CONTAINER);
        server.createNode("/unused", NOTHING, CreateMode.CONTAINER);
        server.createNode("/full", NOTHING, CreateMode.CONTAINER);
        server.createNode("/emptied/child", NOTHING);
        server.createNode("/full/child", NOTHING);
        server.deleteNode("/emptied/child");
        server.reapContainers();
        assertThat(server.nodeExists("/emptied")).isFalse();
        assertThat(server.nodeExists("/unused")).isTrue();
        assertThat(server.nodeExists("/full")).isTrue();
    }

    @Test
    void emptyContainers_areRemovedInEveryServer() {
        try (EmbeddedZooKeeper one = withQuickContainers();
                EmbeddedZooKeeper two = withQuickContainers()) {
            for (EmbeddedZooKeeper server : new EmbeddedZooKeeper[] {one, two}) {
                server.createNode("/container", NOTHING, CreateMode.CONTAINER);
                server.createNode("/container/child", NOTHING);
                server.restart();
                server.deleteNode("/container/child");
                await().atMost(LIMIT).until(() -> !server.nodeExists("/container"));
            }
        }
    }

    private static EmbeddedZooKeeper withQuickContainers() {
        return EmbeddedZooKeeper.builder()
                .containerCheckInterval(Duration.ofMillis(10))
                .start();
    }

    private static String nextChildOf(EmbeddedZooKeeper server, String path) {
        return server.createNode(path + "/n-", NOTHING, CreateMode.PERSISTENT_SEQUENTIAL);
    }
}
