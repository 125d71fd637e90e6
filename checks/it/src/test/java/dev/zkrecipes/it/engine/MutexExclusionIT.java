// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.Fault;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** P1, P7, P8: who holds, who knows it, and what the others can rely on. */
@Timeout(600)
@WithZooKeeper(tickTimeMillis = 200)
class MutexExclusionIT {
    private static final Duration SESSION = Duration.ofSeconds(6);

    private final EmbeddedZooKeeper server;
    private final String path;

    MutexExclusionIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/exclusion/" + test.getTestMethod().orElseThrow().getName();
    }

    private static ZooKeeperClient client(String connectString) {
        return ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(SESSION)
                .build();
    }

    @Test
    @Tag("H06")
    void createReplyLostWithTheSession_leavesOneNodeOfTheNewSession() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient client = client(proxy.connectString())) {
            client.awaitConnected(Duration.ofSeconds(20));
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            mutex.acquire().close();
            long oldSession = client.zooKeeper().orElseThrow().getSessionId();

            Fault lost = proxy.dropReply(RequestType.CREATE2, 1);
            CompletableFuture<Void> expired = lost.fired().thenRun(() -> {
                proxy.refuse();
                server.expireSession(oldSession);
                proxy.accept();
            });
            CompletableFuture<Lease> wanted = mutex.acquireAsync();
            expired.get(120, TimeUnit.SECONDS);

            Lease lease = wanted.get(120, TimeUnit.SECONDS);
            long newSession = client.zooKeeper().orElseThrow().getSessionId();
            assertThat(server.children(path)).hasSize(1);
            assertThat(server.owner(path + "/" + server.children(path).get(0))).hasValue(newSession);
            lease.close();
        }
    }

    @Test
    @Tag("H07")
    void grantOnAnOldProof_isConfirmedFirst() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient client = client(proxy.connectString())) {
            client.awaitConnected(Duration.ofSeconds(20));
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            mutex.acquire().close();
            Held reply = proxy.holdReply(RequestType.CREATE2, 1);
            CompletableFuture<Lease> wanted = mutex.acquireAsync();
            reply.awaitReached(Duration.ofSeconds(20));
            long old = System.nanoTime() + SESSION.dividedBy(2).toNanos();
            await().pollInterval(Duration.ofMillis(10)).until(() -> System.nanoTime() - old > 0);
            reply.release();
            Lease lease = wanted.get(120, TimeUnit.SECONDS);
            Soon.await().until(lease::isValid);
            lease.close();
        }
    }

    @Test
    @Tag("H11")
    void lossOfOneNode_losesOnlyItsLease() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            Lease first = new InterProcessMutex(client, path + "/a").acquire();
            Lease second = new InterProcessMutex(client, path + "/b").acquire();
            Lease third = new InterProcessMutex(client, path + "/c").acquire();
            server.deleteNode(path + "/b/" + server.children(path + "/b").get(0));
            await().until(() -> second.state() == LeaseState.LOST);
            await().until(() -> first.state() == LeaseState.HELD && third.state() == LeaseState.HELD);
            first.verify();
            third.verify();
            List.of(first, second, third).forEach(Lease::close);
        }
    }

    @Test
    @Tag("H12")
    void lateRelease_leavesTheNextHolderAlone() throws Exception {
        try (ZooKeeperClient one = client(server.connectString());
                ZooKeeperClient two = client(server.connectString())) {
            InterProcessMutex first = new InterProcessMutex(one, path);
            InterProcessMutex second = new InterProcessMutex(two, path);
            Lease late = first.acquire();
            long expired = one.zooKeeper().orElseThrow().getSessionId();
            server.expireSession(expired);
            Lease next = second.acquire();

            late.close();
            await().until(() -> one.zooKeeper().orElseThrow().getSessionId() != expired
                    && one.connectionState() == ConnectionState.CONNECTED);
            late.closeAsync().get(120, TimeUnit.SECONDS); // whatever the release deletes is deleted
            assertThat(first.tryAcquire()).isEmpty();
            next.verify();
            next.close();
        }
    }

    @Test
    void fencingTokens_riseFromHolderToHolder_evenOnARecreatedPath() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            long last = 0;
            for (int round = 0; round < 20; round++) {
                try (Lease lease = mutex.acquire()) {
                    assertThat(lease.fencingToken()).isGreaterThan(last);
                    assertThat(mutex.acquire().fencingToken()).isEqualTo(lease.fencingToken());
                    last = lease.fencingToken();
                    mutex.release();
                }
                if (round % 5 == 0) {
                    server.deleteNode(path);
                }
            }
        }
    }

    @Test
    void guard_refusesTheWriteOfAFormerHolder() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            server.createNode("/guarded-" + path.hashCode(), new byte[0]);
            String target = "/guarded-" + path.hashCode();
            Lease lease = new InterProcessMutex(client, path).acquire();
            Op guard = lease.guard();
            ZooKeeper handle = client.zooKeeper().orElseThrow();
            handle.multi(List.of(guard, Op.setData(target, new byte[] {1}, -1)));
            assertThat(server.data(target).orElseThrow()).containsExactly(1);

            server.deleteNode(path + "/" + server.children(path).get(0));
            assertThatThrownBy(() -> handle.multi(List.of(guard, Op.setData(target, new byte[] {2}, -1))))
                    .isInstanceOf(KeeperException.NoNodeException.class);
            assertThat(server.data(target).orElseThrow()).containsExactly(1);
            lease.close();
        }
    }

    @Test
    void verify_findsTheLossAtOnce() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            Lease lease = new InterProcessMutex(client, path).acquire();
            lease.verify();
            server.deleteNode(path + "/" + server.children(path).get(0));
            assertThatThrownBy(lease::verify).isInstanceOf(LockLostException.class);
            assertThat(lease.state()).isEqualTo(LeaseState.LOST);
            lease.close();
        }
    }
}
