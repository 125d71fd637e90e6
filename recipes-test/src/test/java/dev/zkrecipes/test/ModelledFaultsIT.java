// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import static dev.zkrecipes.test.Client.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.test.internal.FrozenJvm;
import dev.zkrecipes.test.internal.Lateness;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a model of ZooKeeper has to do, shown once on three real servers: this is what 3.9.5 does.
 *
 * <p>Shown elsewhere:
 *
 * <ul>
 *   <li>a follower that lags answers an older list, and what it owes to a write of the same session: {@link
 *       ZooKeeperEnsembleIT#followerCutFromItsLeader_answersReadsAndCommitsNothing};
 *   <li>a leader that is killed: {@link
 *       ZooKeeperEnsembleIT#leaderIsKilled_anotherLeadsTheSameSessions_andItComesBackAsFollower};
 *   <li>a reply that is lost after the request was applied, and a request that is lost before: {@link
 *       PacketFaultIT#dropReply_losesTheReplyOfAnAppliedRequest_andAllBehindIt}, {@link
 *       PacketFaultIT#dropRequest_cutsBeforeTheServerHearsOfIt};
 *   <li>a session that a server has ended: {@link EmbeddedZooKeeperIT#expireSession_expiresTheClientAndRemovesItsNodes};
 *   <li>containers that are removed when they are empty: {@link ServerTreeIT#emptyContainers_areRemovedOnRequest};
 *   <li>a counter of sequence numbers that is worn out: {@link ServerTreeIT#sequenceCounter_sticksAtItsEnd};
 *   <li>how many watches a server keeps: {@link EmbeddedZooKeeperIT#watchesAndEvents_areCounted}.
 * </ul>
 */
@Timeout(600)
@Tag("soak")
class ModelledFaultsIT {
    /** Does not expire while a test runs, and hears of its server again before it gives up a connection. */
    private static final Duration LASTING = Duration.ofSeconds(30);

    private static final byte[] OLD = {1};
    private static final byte[] NEW = {2};
    private static final byte[] NOTHING = {};

    private static ZooKeeperEnsemble ensemble;

    private EnsembleServer leader;
    private EnsembleServer follower;
    private EnsembleServer other;
    private String path;

    @BeforeAll
    static void start() {
        ensemble = ZooKeeperEnsemble.start();
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    /** Each test has a path of its own, which exists. */
    @BeforeEach
    void choose(TestInfo test) throws Exception {
        leader = ensemble.leader();
        follower = ensemble.followers().get(0);
        other = ensemble.followers().get(1);
        path = "/" + test.getTestMethod().orElseThrow().getName() + "-"
                + Integer.toHexString(test.getDisplayName().hashCode());
        try (Client client = connect(follower.connectString())) {
            client.create(path);
        }
    }

    @AfterEach
    void heal() {
        ensemble.heal();
        ensemble.awaitComplete();
    }

    private static Client connect(String connectString) {
        return Client.connect(connectString, LASTING);
    }

    private static FaultProxy proxyTo(EnsembleServer server) {
        return FaultProxy.to("127.0.0.1", server.clientPort.number());
    }

    // ---- Servers without each other.

    @Test
    void sessionBehindACutFollower_expiresWithItsNodes_whileItsClientIsAnswered() throws Exception {
        // Both the client and the follower must bear that the machine stands still for a while.
        Duration session = ZooKeeperEnsemble.SYNC_LIMIT.multipliedBy(3).dividedBy(5);
        try (Client behind = Client.connect(follower.connectString(), session);
                Client ahead = connect(leader.connectString())) {
            List<String> parents = List.of(path + "/a", path + "/b");
            for (String parent : parents) {
                behind.create(parent);
                behind.create(parent + "/mine", CreateMode.EPHEMERAL);
            }
            List<CompletableFuture<EventType>> gone =
                    List.of(ahead.watch(parents.get(0) + "/mine"), ahead.watch(parents.get(1) + "/mine"));
            follower.cutFrom(leader);
            assertThat(gone).allSatisfy(event -> assertThat(get(event)).isEqualTo(EventType.NodeDeleted));
            assertThat(ahead.zk().exists(parents.get(0), false).getPzxid())
                    .as("one transaction")
                    .isEqualTo(ahead.zk().exists(parents.get(1), false).getPzxid());

            assertThat(behind.zk().exists(parents.get(0) + "/mine", false)).isNotNull();
            assertThat(behind.states()).containsExactly(KeeperState.SyncConnected);
            follower.heal();
            behind.awaitState(KeeperState.Expired, 1);
        }
    }

    /**
     * Has the others elect somebody else. When the leader goes on it leads by itself, until {@link
     * ZooKeeperEnsemble#SYNC_LIMIT} is over: it stands still meanwhile, or the others would hear of it that it leads.
     */
    private FrozenJvm deposeLeader() {
        FrozenJvm frozen = leader.freeze();
        follower.abandon(leader);
        other.abandon(leader);
        Soon.await().until(() -> follower.role() == ServerRole.LEADER || other.role() == ServerRole.LEADER);
        return frozen;
    }

    @Test
    void deposedLeader_answersFromThePast_untilItNotices() throws Exception {
        try (Client behind = connect(leader.connectString());
                Client ahead = connect(follower.connectString() + "," + other.connectString())) {
            behind.zk().setData(path, OLD, -1);
            try (FrozenJvm frozen = deposeLeader()) {
                assertThat(frozen).isNotNull();
                retried().until(() -> ahead.zk().setData(path, NEW, -1) != null);
            }
            assertThat(behind.zk().getData(path, false, null)).isEqualTo(OLD);
            assertThat(leader.role()).isEqualTo(ServerRole.LEADER);
            assertThat(behind.states()).containsExactly(KeeperState.SyncConnected);

            ensemble.heal();
            retried().until(() -> behind.zk().getData(path, false, null)[0] == NEW[0]);
        }
    }

    private static ConditionFactory retried() {
        return Soon.await()
                .atMost(Client.LIMIT)
                .ignoreExceptionsInstanceOf(KeeperException.ConnectionLossException.class);
    }

    /** So it is there after all, behind a list and a sync that said nothing of it. Only a write would not have been answered. */
    @Test
    void createWithALostReply_isNotSeenAtADeposedLeader_evenAfterASync() throws Exception {
        try (FaultProxy ahead = proxyTo(follower);
                FaultProxy behind = proxyTo(leader)) {
            behind.refuse();
            try (Client client = connect(ahead.connectString() + "," + behind.connectString())) {
                try (FrozenJvm frozen = deposeLeader()) {
                    assertThat(frozen).isNotNull();
                    client.awaitState(KeeperState.SyncConnected, 2);
                    Fault lost = ahead.dropReply(RequestType.CREATE, 1);
                    assertThat(get(client.createAsync(path + "/late"))).isEqualTo(Code.CONNECTIONLOSS);
                    lost.awaitFired(Client.LIMIT);
                    ahead.refuse();
                }
                behind.accept();
                retried().until(() -> client.zk().getChildren(path, false).isEmpty());
                client.zk().sync(path);
                assertThat(client.zk().getChildren(path, false)).isEmpty();
                CompletableFuture<Code> checked = multi(client, Op.check(path, -1));
                assertThat(leader.role()).isEqualTo(ServerRole.LEADER);
                assertThat(checked).isNotDone();

                ensemble.heal();
                ahead.accept();
                assertThat(get(checked)).isEqualTo(Code.CONNECTIONLOSS);
                retried().until(() -> client.zk().multi(List.of(Op.check(path, -1))) != null);
                assertThat(client.zk().getChildren(path, false)).containsExactly("late");
            }
        }
    }

    // ---- Sessions that move.

    /** It is on its way from its server to the leader; neither a read nor a sync at the next server tells of it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void createInFlight_isRefused_onceItsSessionHasMoved(boolean moves) throws Exception {
        try (FaultProxy before = proxyTo(follower);
                FaultProxy after = proxyTo(other);
                Client bystander = connect(follower.connectString())) {
            after.refuse();
            try (Client client = connect(before.connectString() + "," + after.connectString())) {
                follower.cutFrom(leader);
                CompletableFuture<Code> created = client.createAsync(path + "/late");
                awaitOutstanding(follower);
                bystander.zk().exists(path, false); // behind it, and it is sent on before this is answered
                before.refuse();
                assertThat(get(created)).isEqualTo(Code.CONNECTIONLOSS);
                if (moves) {
                    after.accept();
                    client.awaitState(KeeperState.SyncConnected, 2);
                    assertThat(client.zk().getChildren(path, false)).isEmpty();
                    client.zk().sync(path);
                    assertThat(client.zk().getChildren(path, false)).isEmpty();
                }
                follower.heal();
                bystander.create(path + "/next"); // takes the same way, so what is in front of it has arrived
                assertThat(bystander.zk().getChildren(path, false).contains("late"))
                        .isEqualTo(!moves);
                after.accept();
            }
        }
    }

    /** Waits until a server has one request that it cannot answer. */
    private static void awaitOutstanding(EnsembleServer server) {
        Soon.await().until(() -> server.status().lines().anyMatch("Outstanding: 1"::equals));
    }

    @Test
    void clientWithoutAServer_abandonsItsSession() throws Exception {
        Duration session = Duration.ofMillis(1500);
        try (Lateness lateness = Lateness.measure();
                FaultProxy proxy = proxyTo(follower);
                Client witness = connect(leader.connectString());
                Client client = Client.connect(proxy.connectString(), session)) {
            client.create(path + "/mine", CreateMode.EPHEMERAL);
            CompletableFuture<EventType> gone = witness.watch(path + "/mine");
            long start = System.nanoTime();
            proxy.refuse();
            client.awaitState(KeeperState.Expired, 1); // nobody can have told it
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .as("4/3 of the time-out since it last heard from a server, which was sent a ping a third earlier")
                    .isGreaterThan(session.dividedBy(2).minus(lateness.soFar()));
            assertThat(get(gone)).isEqualTo(EventType.NodeDeleted);
        }
    }

    // ---- Transactions.

    @Test
    void multiOfChecks_isCommitted_andOneOfReadsIsNot() throws Exception {
        try (Client behind = connect(follower.connectString())) {
            // The smallest of several: other sessions may come and go in between.
            assertThat(smallestStep(behind, Op.check(path, -1))).isEqualTo(2);
            assertThat(smallestStep(behind, Op.getChildren(path))).isEqualTo(1);

            follower.cutFrom(leader);
            assertThat(get(multi(behind, Op.getChildren(path)))).isEqualTo(Code.OK);
            CompletableFuture<Code> checked = multi(behind, Op.check(path, -1));
            try (Client bystander = connect(leader.connectString())) {
                bystander.create(path + "/while-cut");
            }
            assertThat(checked).isNotDone();
            follower.heal();
            assertThat(get(checked)).isEqualTo(Code.OK);
        }
    }

    private static CompletableFuture<Code> multi(Client client, Op op) {
        CompletableFuture<Code> done = new CompletableFuture<>();
        client.zk().multi(List.of(op), (rc, requested, context, results) -> done.complete(Code.get(rc)), null);
        return done;
    }

    /** How many transactions there are between two writes, the second one counted, if this comes between them. */
    private long smallestStep(Client client, Op between) {
        return LongStream.range(0, 5).map(i -> step(client, between)).min().orElseThrow();
    }

    private long step(Client client, Op between) {
        try {
            long before = client.zk().setData(path, NOTHING, -1).getMzxid();
            client.zk().multi(List.of(between));
            return client.zk().setData(path, NOTHING, -1).getMzxid() - before;
        } catch (KeeperException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
