// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.Fault;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests to give a lock back: what they cost, to nodes of Curator, without rights, and while somebody is in trouble. */
class MutexRevocationIT extends ServerStage {
    private static final Duration LONG = TestClients.LONG_SESSION;
    private static final String CURATORS = "_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000000";

    private FaultProxy proxy;
    private ZooKeeperClient holding; // behind the proxy
    private ZooKeeperClient asking;
    private Revoker revoker;
    private InterProcessMutex mutex;

    @BeforeEach
    void makeLock() throws InterruptedException {
        proxy = proxy();
        holding = client(settings(proxy.connectString()).ownerLabel("somebody"));
        asking = client(settings().ownerLabel("somebody"));
        revoker = new Revoker(asking);
        mutex = new InterProcessMutex(holding, path);
        mutex.acquire().close();
    }

    private static List<RevocationRequest> listen(Lease lease) {
        List<RevocationRequest> heard = new CopyOnWriteArrayList<>();
        lease.onRevocationRequested(heard::add);
        return heard;
    }

    private String data(String node) {
        return new String(server.data(node).orElseThrow(), UTF_8);
    }

    private Participant holder() throws InterruptedException {
        return mutex.participants().get(0);
    }

    // ---- What it costs.

    @Test
    @Tag("H72")
    void listening_isOneRead_andWithoutListenerNothing() throws Exception {
        mutex.acquire().close();
        RequestCounts start = server.requests();
        Lease lease = mutex.acquire();
        RequestCounts acquired = server.requests();
        assertRequests(acquired.minus(start), RequestType.CREATE2);

        listen(lease);
        await().until(() -> queueWatches(path) == 1);
        Lease again = mutex.acquire();
        listen(lease);
        listen(again);
        again.close();
        assertRequests(server.requests().minus(acquired), RequestType.GET_DATA);

        RequestCounts listened = server.requests();
        lease.close();
        await().until(() -> queueWatches(path) == 0);
        assertRequests(server.requests().minus(listened), RequestType.DELETE);
    }

    @Test
    void lastListeningHold_removesItsWatch() throws Exception {
        Lease lease = mutex.acquire();
        Lease again = mutex.acquire();
        List<RevocationRequest> heard = listen(again);
        await().until(() -> queueWatches(path) == 1);
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
    void closedRevocation_isFollowedNoLonger() throws Exception {
        Lease lease = mutex.acquire();
        Revocation revocation = revoker.withGrace(LONG).request(holder());
        assertThat(revocation.await(Duration.ZERO)).isEmpty();
        RequestCounts start = server.requests();
        revocation.close();
        assertThatThrownBy(() -> revocation.await(Duration.ZERO)).isInstanceOf(CancellationException.class);
        Soon.await().until(revocation.outcome()::isDone);
        assertThat(revocation.outcome()).isCancelled();
        await().until(() -> server.requests().minus(start).of(RequestType.CHECK_WATCHES) == 1);
        List<RevocationRequest> heard = listen(lease);
        await().until(() -> heard.size() == 1); // the request stays
        lease.close();
    }

    @Test
    void closedClient_endsTheRequestsThatItFollows() throws Exception {
        Lease lease = mutex.acquire();
        Revocation revocation = revoker.withGrace(LONG).request(holder());
        asking.close();
        Soon.await().until(revocation.outcome()::isDone);
        assertThatThrownBy(revocation.outcome()::join).hasCauseInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> revocation.await(Duration.ZERO)).isInstanceOf(ClientClosedException.class);
        lease.verify(); // nobody breaks it any more
        lease.close();
    }

    // ---- Nodes of others.

    @Test
    @Tag("H60")
    void curatorsRequests_areReported() throws Exception {
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
    void curatorsNode_isMarkedAsByCurator_andCanBeBroken() throws Exception {
        String node = path + "/" + CURATORS;
        server.createNode(node, "192.0.2.1".getBytes(UTF_8));
        List<Revocation> asked = revoker.request(mutex);
        assertThat(data(node)).isEqualTo("__REVOKE__");
        assertThat(revoker.withGrace(Duration.ZERO).request(mutex).get(0).await(Duration.ofSeconds(20)))
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
        assertThat(revoker.withGrace(Duration.ZERO).request(before).await(Duration.ofSeconds(20)))
                .hasValue(RevocationOutcome.GONE_ALREADY);
        assertThat(data(node)).isEqualTo("first");

        Held look = proxy.holdRequest(RequestType.GET_DATA, 3); // before it breaks; it has read and watched the node
        Revocation revocation =
                new Revoker(holding).withGrace(Duration.ofMillis(1)).request(first);
        look.awaitReached(LONG);
        proxy.refuse(); // so that nobody is told of the deletion
        await().until(() -> holding.connectionState() == ConnectionState.SUSPENDED);
        server.deleteNode(node);
        server.createNode(node, "second".getBytes(UTF_8));
        proxy.accept();
        assertThat(Soon.get(revocation.outcome())).isEqualTo(RevocationOutcome.GIVEN_BACK);
        assertThat(data(node)).isEqualTo("second");
        server.deleteNode(node);
    }

    // ---- Without rights.

    private ZooKeeperClient guarded(int everybody) throws InterruptedException {
        return client(settings()
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
            Revocation revocation =
                    revoker.withGrace(Duration.ZERO).request(own).get(0);
            assertThatThrownBy(() -> revocation.await(Duration.ofSeconds(20)))
                    .isInstanceOf(LockAccessException.class)
                    .hasMessageContaining("DELETE");
            await().until(() -> heard.size() == 1);
            lease.verify();
            lease.close();
        }
    }

    // ---- The holder is in trouble.

    @Test
    @Tag("H60")
    void requestOrListenerDuringACutOff_isReportedAfterwards() throws Exception {
        Lease lease = mutex.acquire();
        Participant holder = holder();
        List<RevocationRequest> heard = listen(lease);
        await().until(() -> queueWatches(path) == 1);
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

    // ---- The requester is in trouble.

    @Test
    void lostReplyToTheMark_marksOnce() throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        List<RevocationRequest> heard = listen(lease);
        Fault lost = proxy.dropReply(RequestType.MULTI, 1);
        List<Revocation> asked = new Revoker(holding).request(mutex);
        lost.awaitFired(Duration.ofSeconds(120));
        assertThat(data(node()).lines().filter(line -> line.startsWith("revoke=")))
                .hasSize(1);
        await().until(() -> heard.size() == 1);
        lease.close();
        assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.GIVEN_BACK);
        assertThat(heard).hasSize(1);
    }

    /** The deletion comes behind the mark. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void lostDeletion_orItsLostReply_isBroken(boolean reply) throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        Fault lost = reply ? proxy.dropReply(RequestType.MULTI, 2) : proxy.dropRequest(RequestType.MULTI, 2);
        List<Revocation> asked =
                new Revoker(holding).withGrace(Duration.ofMillis(50)).request(mutex);
        lost.awaitFired(Duration.ofSeconds(120));
        assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.BROKEN);
        assertThat(server.children(path)).isEmpty();
        lease.close();
    }

    @Test
    void requesterWithAnEndedSession_breaksInTheNext() throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        long session = holding.zooKeeper().orElseThrow().getSessionId();
        List<Revocation> asked =
                new Revoker(holding).withGrace(Duration.ofMillis(300)).request(mutex);
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
        ZooKeeperClient client = client(settings(proxy.connectString()).requestTimeout(Duration.ofMillis(300)));
        proxy.refuse();
        await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
        assertThatThrownBy(() -> new Revoker(client).request(holder))
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining(path);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> new Revoker(client).request(holder)).isInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(data(node())).doesNotContain("revoke=");
        lease.close();
    }
}
