// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.Soon.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Lateness;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.Soon;
import dev.zkrecipes.test.WithZooKeeper;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** Requests to give a lock back under faults, to nodes of Curator, without rights, and what they cost. */
@Timeout(60)
@WithZooKeeper(tickTimeMillis = 100)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MutexRevocationIT {
    /** A sixth of it is longer than any test: the regular check reveals nothing. */
    private static final Duration LONG = Duration.ofSeconds(60);

    private static final String CURATORS = "_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000000";

    private EmbeddedZooKeeper server;
    private FaultProxy proxy;
    private ZooKeeperClient holding; // behind the proxy
    private ZooKeeperClient asking;
    private Revoker revoker;
    private String path;
    private InterProcessMutex mutex;

    @BeforeAll
    void open(EmbeddedZooKeeper started) throws InterruptedException {
        server = started;
        asking = connect(server.connectString(), LONG);
        revoker = new Revoker(asking);
    }

    @AfterAll
    void closeAll() {
        asking.close();
    }

    @BeforeEach
    void makeLock() throws InterruptedException {
        proxy = FaultProxy.to(server);
        holding = connect(proxy.connectString(), LONG);
        path = "/revocation-" + UUID.randomUUID();
        mutex = new InterProcessMutex(holding, path);
        mutex.acquire().close();
    }

    @AfterEach
    void close() {
        holding.close();
        proxy.close();
    }

    private static ZooKeeperClient connect(String connectString, Duration session) throws InterruptedException {
        return connected(ZooKeeperClient.builder().connectString(connectString).sessionTimeout(session));
    }

    private static ZooKeeperClient connected(ZooKeeperClientBuilder builder) throws InterruptedException {
        ZooKeeperClient client = builder.ownerLabel("somebody").build();
        assertThat(client.awaitConnected(Duration.ofSeconds(20))).isTrue();
        return client;
    }

    private static List<RevocationRequest> listen(Lease lease) {
        List<RevocationRequest> heard = new CopyOnWriteArrayList<>();
        lease.onRevocationRequested(heard::add);
        return heard;
    }

    private String node() {
        return path + "/" + server.children(path).get(0);
    }

    private String data(String node) {
        return new String(server.data(node).orElseThrow(), UTF_8);
    }

    private Participant holder() throws InterruptedException {
        return mutex.participants().get(0);
    }

    private static void assertRequests(RequestCounts spent, RequestType... expected) {
        assertThat(spent.consistsOf(expected)).as(spent.toString()).isTrue();
    }

    // ---- What it costs.

    @Test
    @Tag("H72")
    void listening_isOneRead_andWithoutListenerNothing() throws Exception {
        RequestCounts start = server.requests();
        Lease lease = mutex.acquire();
        RequestCounts acquired = server.requests();
        assertRequests(acquired.minus(start), RequestType.CREATE2, RequestType.GET_CHILDREN2);

        listen(lease);
        await().until(() -> server.watchCount() == 1);
        Lease again = mutex.acquire();
        listen(lease);
        listen(again);
        again.close();
        assertRequests(server.requests().minus(acquired), RequestType.GET_DATA);

        RequestCounts listened = server.requests();
        lease.close();
        await().until(() -> server.watchCount() == 0);
        assertRequests(server.requests().minus(listened), RequestType.DELETE);
    }

    @Test
    void lastHoldThatListens_takesItsWatchAlong() throws Exception {
        Lease lease = mutex.acquire();
        Lease again = mutex.acquire();
        List<RevocationRequest> heard = listen(again);
        await().until(() -> server.watchCount() == 1);
        RequestCounts start = server.requests();
        again.close();
        await().until(() -> server.requests().minus(start).of(RequestType.CHECK_WATCHES) == 1);
        revoker.request(mutex);
        List<RevocationRequest> heardLater = listen(lease);
        await().until(() -> heardLater.size() == 1);
        assertThat(heard).isEmpty();
        lease.close();
    }

    @Test
    void request_isAListAReadAndAWrite() throws Exception {
        Lease lease = mutex.acquire();
        Revoker own = new Revoker(holding);
        RequestCounts start = server.requests();
        List<Revocation> asked = own.request(mutex);
        await().until(() -> server.watchCount() == 1);
        assertRequests(
                server.requests().minus(start),
                RequestType.GET_CHILDREN2,
                RequestType.GET_DATA, // whose it is, and what to write the mark on
                RequestType.MULTI,
                RequestType.GET_DATA); // and follows it
        lease.close();
        assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.GIVEN_BACK);
    }

    // ---- When the holder is in trouble.

    @Test
    @Tag("H60")
    void requestOrListenerWhileTheHolderIsCutOff_isReportedWhenItIsBack() throws Exception {
        Lease lease = mutex.acquire();
        Participant holder = holder();
        List<RevocationRequest> heard = listen(lease);
        await().until(() -> server.watchCount() == 1);
        InterProcessMutex another = new InterProcessMutex(holding, path + "-another");
        Lease asked = another.acquire();
        revoker.request(another);
        proxy.refuse();
        await().until(() -> holding.connectionState() == ConnectionState.SUSPENDED);
        revoker.request(holder);
        List<RevocationRequest> heardLater = listen(lease);
        List<RevocationRequest> heardOfAnother = listen(asked);
        proxy.accept();
        await().until(() -> heard.size() == 1 && heardLater.size() == 1 && heardOfAnother.size() == 1);
        await().until(lease::isValid);
        asked.close();
        lease.close();
    }

    @Test
    void brokenHolderThatListens_learnsAtOnce() throws Exception {
        Lease lease = mutex.acquire();
        listen(lease);
        Revocation revocation = revoker.request(holder(), Duration.ZERO);
        assertThat(revocation.await(Duration.ofSeconds(20))).hasValue(RevocationOutcome.BROKEN);
        assertThat(Soon.get(lease.ended())).isEqualTo(LeaseState.LOST);
        assertThatThrownBy(mutex::release)
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("deleted by somebody else");
    }

    @Test
    @Tag("H11")
    void brokenHolderThatDoesNotListen_learnsByTheCheck() throws Exception {
        try (ZooKeeperClient client = connect(server.connectString(), Duration.ofSeconds(3))) {
            InterProcessMutex checked = new InterProcessMutex(client, path);
            Lease lease = checked.acquire();
            List<Revocation> asked = revoker.request(checked, Duration.ofMillis(1));
            assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.BROKEN);
            Lease next = mutex.acquire();
            await().until(() -> lease.state() == LeaseState.LOST);
            lease.close();
            Soon.await().until(next::isValid);
            next.close();
        }
    }

    // ---- When the requester is.

    @Test
    void lostReplyToTheMark_marksOnce() throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        List<RevocationRequest> heard = listen(lease);
        proxy.dropReply(RequestType.MULTI, 1);
        List<Revocation> asked = new Revoker(holding).request(mutex);
        assertThat(data(node()).lines().filter(line -> line.startsWith("revoke=")))
                .hasSize(1);
        await().until(() -> heard.size() == 1);
        lease.close();
        assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.GIVEN_BACK);
        assertThat(heard).hasSize(1);
    }

    @Test
    void lostReplyToTheDeletion_isBroken() throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        proxy.dropReply(RequestType.MULTI, 2); // behind the mark
        List<Revocation> asked = new Revoker(holding).request(mutex, Duration.ofMillis(50));
        assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.BROKEN);
        assertThat(server.children(path)).isEmpty();
        lease.close();
    }

    @Test
    void lostDeletion_isSentAgain() throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        proxy.dropRequest(RequestType.MULTI, 2);
        List<Revocation> asked = new Revoker(holding).request(mutex, Duration.ofMillis(50));
        assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.BROKEN);
        assertThat(server.children(path)).isEmpty();
        lease.close();
    }

    @Test
    void requesterWithAnEndedSession_breaksInTheNext() throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        long session = holding.zooKeeper().orElseThrow().getSessionId();
        List<Revocation> asked = new Revoker(holding).request(mutex, Duration.ofMillis(300));
        assertThat(server.expireSession(session)).isTrue();
        assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.BROKEN);
        await().until(() -> holding.zooKeeper().orElseThrow().getSessionId() != session);
        lease.close();
    }

    @Test
    @Tag("H50")
    void requestWithoutAServer_endsInTime() throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        Participant holder = holder();
        try (ZooKeeperClient client = connected(ZooKeeperClient.builder()
                        .connectString(proxy.connectString())
                        .requestTimeout(Duration.ofMillis(300)));
                Lateness lateness = Lateness.measure()) {
            proxy.refuse();
            await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
            Duration late = lateness.soFar();
            long start = System.nanoTime();
            assertThatThrownBy(() -> new Revoker(client).request(holder))
                    .isInstanceOf(LockConnectionException.class)
                    .hasMessageContaining(path);
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isBetween(
                            Duration.ofMillis(300),
                            Duration.ofMillis(1000).plus(lateness.soFar()).minus(late));

            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> new Revoker(client).request(holder)).isInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        }
        assertThat(data(node())).doesNotContain("revoke=");
        lease.close();
    }

    @Test
    @Tag("H20")
    void closingTheClient_endsWhatItFollows() throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        Participant holder = holder();
        Revoker own = new Revoker(holding);
        Revocation revocation = own.request(holder, LONG);
        holding.close();
        assertThat(revocation.outcome())
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableThat()
                .withCauseInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> own.request(holder)).isInstanceOf(ClientClosedException.class);
        lease.verify();
        lease.close();
    }

    @Test
    void closedRevocation_isFollowedNoLonger() throws Exception {
        Lease lease = mutex.acquire();
        Revocation revocation = revoker.request(holder(), LONG);
        assertThat(revocation.await(Duration.ZERO)).isEmpty();
        RequestCounts start = server.requests();
        revocation.close();
        assertThatThrownBy(() -> revocation.await(Duration.ZERO)).isInstanceOf(CancellationException.class);
        await().until(() -> server.requests().minus(start).of(RequestType.CHECK_WATCHES) == 1);
        List<RevocationRequest> heard = listen(lease);
        await().until(() -> heard.size() == 1); // the request stays
        lease.close();
    }

    // ---- Nodes of others.

    @Test
    @Tag("H60")
    void requestsOfCurator_areReported() throws Exception {
        Lease lease = mutex.acquire();
        server.setData(node(), "__REVOKE__".getBytes(UTF_8));
        List<RevocationRequest> heard = listen(lease);
        await().until(() -> heard.size() == 1);
        assertThat(heard.get(0).requester()).isEqualTo("unknown");
        assertThat(holder().owner()).isEqualTo("unknown");
        server.setData(node(), "__REVOKE__".getBytes(UTF_8));
        await().until(() -> heard.size() == 2);
        revoker.request(mutex);
        await().until(() -> heard.size() == 3);
        assertThat(heard.get(2).requester()).isEqualTo("somebody");
        assertThat(data(node())).startsWith("zkrecipes 1\nrevoke=__REVOKE__");
        lease.close();
        assertThat(heard).hasSize(3);
    }

    @Test
    void nodeOfCurator_getsWhatCuratorWrites_andCanBeBroken() throws Exception {
        String node = path + "/" + CURATORS;
        server.createNode(node, "192.0.2.1".getBytes(UTF_8));
        List<Revocation> asked = revoker.request(mutex);
        assertThat(data(node)).isEqualTo("__REVOKE__");
        assertThat(revoker.request(mutex, Duration.ZERO).get(0).await(Duration.ofSeconds(20)))
                .hasValue(RevocationOutcome.BROKEN);
        assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.GIVEN_BACK);
        assertThat(server.children(path)).isEmpty();
    }

    @Test
    @Tag("H12")
    void nodeOfTheSameName_isNeitherMarkedNorBroken() throws Exception {
        String node = path + "/lock-0000000000";
        server.createNode(node, "first".getBytes(UTF_8));
        Participant first = holder();
        Participant before = new Participant(
                path, first.node(), first.kind(), "", "before", 42, Duration.ZERO, 0, true); // of an earlier session
        assertThat(revoker.request(before, Duration.ZERO).await(Duration.ofSeconds(20)))
                .hasValue(RevocationOutcome.GONE_ALREADY);
        assertThat(data(node)).isEqualTo("first");

        Duration grace = Duration.ofSeconds(2);
        Revocation revocation = new Revoker(holding).request(first, grace);
        long over = System.nanoTime() + grace.toNanos();
        proxy.refuse(); // so that nobody is told of the deletion
        await().until(() -> holding.connectionState() == ConnectionState.SUSPENDED);
        server.deleteNode(node);
        server.createNode(node, "second".getBytes(UTF_8));
        await().until(() -> System.nanoTime() - over > 0);
        proxy.accept();
        assertThat(Soon.get(revocation.outcome())).isEqualTo(RevocationOutcome.GIVEN_BACK);
        assertThat(data(node)).isEqualTo("second");
        server.deleteNode(node);
    }

    // ---- Without rights.

    private ZooKeeperClient guarded(int everybody) throws InterruptedException {
        return connected(ZooKeeperClient.builder()
                .connectString(server.connectString())
                .auth("digest", "holder:secret".getBytes(UTF_8))
                .acl(List.of(
                        new ACL(ZooDefs.Perms.ALL, ZooDefs.Ids.AUTH_IDS),
                        new ACL(everybody, ZooDefs.Ids.ANYONE_ID_UNSAFE))));
    }

    @Test
    @Tag("H63")
    void requestWithoutTheRightToWrite_isRefused() throws Exception {
        try (ZooKeeperClient guarded = guarded(ZooDefs.Perms.READ)) {
            InterProcessMutex own = new InterProcessMutex(guarded, path + "-guarded");
            Lease lease = own.acquire();
            List<RevocationRequest> heard = listen(lease);
            assertThatThrownBy(() -> revoker.request(own))
                    .isInstanceOf(LockAccessException.class)
                    .hasMessageContaining(own.path())
                    .hasMessageContaining("READ and WRITE");
            lease.verify();
            assertThat(heard).isEmpty();
            lease.close();
        }
    }

    @Test
    @Tag("H63")
    void breakingWithoutTheRightToDelete_isRefused() throws Exception {
        try (ZooKeeperClient guarded = guarded(ZooDefs.Perms.READ | ZooDefs.Perms.WRITE)) {
            InterProcessMutex own = new InterProcessMutex(guarded, path + "-guarded");
            Lease lease = own.acquire();
            List<RevocationRequest> heard = listen(lease);
            Revocation revocation = revoker.request(own, Duration.ZERO).get(0);
            assertThatThrownBy(() -> revocation.await(Duration.ofSeconds(20)))
                    .isInstanceOf(LockAccessException.class)
                    .hasMessageContaining("DELETE");
            await().until(() -> heard.size() == 1);
            lease.verify();
            lease.close();
        }
    }

    // ---- What is refused at once.

    @Test
    void badArguments_areRefusedBeforeAnythingIsSent() throws Exception {
        Lease lease = mutex.acquire();
        Participant holder = holder();
        RequestCounts start = server.requests();
        assertThatIllegalArgumentException().isThrownBy(() -> revoker.request(mutex, Duration.ofNanos(-1)));
        assertThatIllegalArgumentException().isThrownBy(() -> revoker.request(holder, Duration.ofSeconds(-1)));
        assertThatThrownBy(() -> lease.onRevocationRequested(null)).isInstanceOf(NullPointerException.class);
        assertRequests(server.requests().minus(start));
        lease.close();
    }

    @Test
    @Tag("H34")
    void requestOnTheEventThread_isRefused() throws Exception {
        Lease lease = mutex.acquire();
        CompletableFuture<Throwable> refused = new CompletableFuture<>();
        holding.zooKeeper()
                .orElseThrow()
                .sync(
                        path,
                        (rc, synced, ctx) -> {
                            try {
                                revoker.request(mutex);
                            } catch (Throwable t) {
                                refused.complete(t);
                            }
                        },
                        null);
        assertThat(refused.get(20, TimeUnit.SECONDS)).isInstanceOf(IllegalStateException.class);
        lease.close();
    }
}
