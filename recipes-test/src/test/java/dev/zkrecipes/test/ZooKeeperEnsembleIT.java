// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("soak")
@Timeout(600)
class ZooKeeperEnsembleIT {
    private static final int MOST_SESSION_MILLIS = 20_000;
    private static final int SESSION_MILLIS = 25_000;

    private static ZooKeeperEnsemble ensemble;

    @BeforeAll
    static void start() {
        ensemble = ZooKeeperEnsemble.start(List.of("maxSessionTimeout=" + MOST_SESSION_MILLIS));
    }

    @AfterAll
    static void stop() {
        ensemble.close();
        ensemble.close();
        assertThat(ensemble.servers()).noneMatch(EnsembleServer::isRunning);
    }

    private static ZooKeeper connect(String connectString) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper zooKeeper = new ZooKeeper(connectString, SESSION_MILLIS, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        assertThat(connected.await(120, TimeUnit.SECONDS)).isTrue();
        return zooKeeper;
    }

    private static void create(ZooKeeper zooKeeper, String path) throws Exception {
        zooKeeper.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    @Test
    void givenSetting_replacesOneOfTheKit() throws Exception {
        try (ZooKeeper client = connect(ensemble.connectString())) {
            assertThat(client.getSessionTimeout()).isEqualTo(MOST_SESSION_MILLIS);
        }
    }

    @Test
    void followerCutFromItsLeader_answersReadsAndCommitsNothing() throws Exception {
        EnsembleServer leader = ensemble.leader();
        EnsembleServer follower = ensemble.followers().get(0);
        try (ZooKeeper behind = connect(follower.connectString());
                ZooKeeper writer = connect(leader.connectString())) {
            follower.cutFrom(leader);
            create(writer, "/unseen");
            CompletableFuture<Code> late = new CompletableFuture<>();

            assertThat(behind.exists("/unseen", false)).isNull();
            assertThat(follower.role()).isEqualTo(ServerRole.FOLLOWER);
            behind.create(
                    "/late",
                    new byte[0],
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT,
                    (rc, path, context, name) -> late.complete(Code.get(rc)),
                    null);
            assertThat(writer.exists("/late", false)).isNull();

            follower.heal();
            assertThat(late.get(120, TimeUnit.SECONDS)).isEqualTo(Code.OK);
            assertThat(behind.exists("/unseen", false)).isNotNull();
        }
    }

    @Test
    void serverCutFromItsClients_isSilentToThemAndFollowsOn() throws Exception {
        EnsembleServer follower = ensemble.followers().get(0);
        try (ZooKeeper cut = connect(follower.connectString());
                ZooKeeper writer = connect(ensemble.leader().connectString())) {
            follower.cutFromClients();
            CompletableFuture<Code> late = new CompletableFuture<>();
            cut.exists("/", false, (rc, path, context, stat) -> late.complete(Code.get(rc)), null);
            create(writer, "/while-cut");
            assertThat(late).isNotDone();
            assertThat(follower.role()).isEqualTo(ServerRole.FOLLOWER);

            follower.heal();
            assertThat(late.get(120, TimeUnit.SECONDS)).isEqualTo(Code.OK);
            assertThat(cut.exists("/while-cut", false)).isNotNull();
        }
    }

    @Test
    void leaderIsKilled_anotherLeadsTheSameSessions_andItComesBackAsFollower() throws Exception {
        try (ZooKeeper client = connect(ensemble.connectString())) {
            create(client, "/survives");
            long session = client.getSessionId();
            EnsembleServer killed = ensemble.leader();
            killed.kill();
            assertThat(killed.role()).isEqualTo(ServerRole.NONE);
            assertThat(ensemble.leader()).isNotSameAs(killed);
            killed.restart();
            ensemble.awaitComplete();
            assertThat(killed.role()).isEqualTo(ServerRole.FOLLOWER);
            Soon.await()
                    .atMost(Duration.ofSeconds(120))
                    .ignoreExceptionsInstanceOf(KeeperException.ConnectionLossException.class)
                    .until(() -> client.exists("/survives", false) != null);
            assertThat(client.getSessionId()).isEqualTo(session);
        }
    }

    @Test
    void cutFromItself_isRefused() {
        EnsembleServer server = ensemble.servers().get(0);
        assertThatThrownBy(() -> server.cutFrom(server)).isInstanceOf(IllegalArgumentException.class);
    }
}
