// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.TimedTry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Members that enter together. */
class MultiLockIT extends ServerStage {
    private String x;
    private String y;
    private FaultProxy proxy;
    private ZooKeeperClient client;
    private ZooKeeperClient other;
    private InterProcessLock mutexX;
    private InterProcessLock mutexY;
    private InterProcessMultiLock both;

    @BeforeEach
    void connect() throws InterruptedException {
        x = path + "/x";
        y = path + "/y";
        proxy = proxy();
        client = client(proxy);
        other = client();
        mutexX = mutex(client, x);
        mutexY = mutex(client, y);
        both = new InterProcessMultiLock(List.of(mutexX, mutexY));
        both.acquire().close();
    }

    private static InterProcessLock mutex(ZooKeeperClient client, String path) {
        return new LockInternals(client, path, new MutexDriver(), LockOptions.defaults()).threadOwned();
    }

    private void awaitNodes(int onX, int onY) {
        await().until(() ->
                server.children(x).size() == onX && server.children(y).size() == onY);
    }

    private String node(String path) {
        assertThat(server.children(path)).hasSize(1);
        return path + "/" + server.children(path).get(0);
    }

    // ---- What can be a member.

    @Test
    @Tag("H32")
    void duplicatesAndMultiLocks_areRefused() {
        assertThatThrownBy(() -> new InterProcessMultiLock(client, List.of(x, y, x)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the path " + x + " is named twice");
        assertThatThrownBy(() -> new InterProcessMultiLock(List.of(mutexX, mutex(client, x))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(x);
        assertThatThrownBy(() -> new InterProcessMultiLock(List.of(mutexX, mutexX)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new InterProcessMultiLock(List.of(both, mutex(client, "/z"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name its members");
        assertThatThrownBy(() -> new InterProcessMultiLock(List.of())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new InterProcessMultiLock(client, List.of("x")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    // ---- All or nothing.

    @Test
    void lease_holdsEveryMember_byOneTokenThatIsTheNodesCzxid() throws Exception {
        long before = server.lastZxid();
        Lease lease = both.acquire();
        assertThat(lease.fencingToken()).isEqualTo(server.lastZxid() << 11).isGreaterThan(before << 11);
        assertThat(MultiLease.tokensOf(lease)).containsOnlyKeys(x, y).containsValue(lease.fencingToken());
        assertThat(client.zooKeeper().orElseThrow().exists(node(y), false).getCzxid() << 11)
                .isEqualTo(lease.fencingToken());
        assertThat(mutex(other, x).tryAcquire()).isEmpty();
        assertThat(mutex(other, y).tryAcquire()).isEmpty();
        assertThat(both.participants()).hasSize(2);
        lease.close();
        assertThat(mutex(other, y).tryAcquire()).isPresent();
    }

    /** One path is there and busy, the others are missing. */
    @Test
    @Tag("H184")
    void pathsOfWhichOneIsThere_areQueuedForOnce() throws Exception {
        List<String> paths =
                IntStream.range(0, 12).mapToObj(i -> path + "/orders/" + i).toList();
        Lease busy = mutex(other, paths.get(3)).acquire();
        RequestCounts before = server.requests();
        CompletableFuture<Lease> all = new InterProcessMultiLock(client, paths).acquireAsync();
        await().until(() -> server.children(paths.get(3)).size() == 2);
        assertThat(server.requests().minus(before).total()).isLessThan(40);
        busy.close();
        Soon.get(all).close();
    }

    @Test
    void guards_letAWriteThroughOnlyWhileAllMembersAreHeld() throws Exception {
        Lease lease = both.acquire();
        assertThatThrownBy(lease::guard)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("guards()");
        List<Op> write = new ArrayList<>(MultiLease.guardsOf(lease));
        write.add(Op.setData(x, new byte[0], -1));
        client.zooKeeper().orElseThrow().multi(write);
        server.deleteNode(node(y));
        assertThatThrownBy(() -> client.zooKeeper().orElseThrow().multi(write))
                .isInstanceOf(KeeperException.NoNodeException.class);
        assertThatThrownBy(lease::verify).isInstanceOf(LockLostException.class).hasMessageContaining(y);
        lease.close();
        awaitNodes(0, 0);
    }

    // ---- Holding some.

    @Test
    @Tag("H37")
    void partlyHeldRequest_isRefused() throws Exception {
        for (InterProcessLock held : List.of(mutexX, mutex(client, x))) {
            Lease lease = held.acquire();
            RequestCounts before = server.requests();
            assertThatThrownBy(both::acquire)
                    .isInstanceOf(LockRefusedException.class)
                    .hasMessageContaining("this thread holds [" + x + "]");
            assertThatThrownBy(both::tryAcquire).isInstanceOf(LockRefusedException.class);
            assertThatThrownBy(() -> both.tryAcquire(Duration.ofSeconds(1))).isInstanceOf(LockRefusedException.class);
            assertThat(server.requests().minus(before).total()).isZero();
            lease.close();
        }
        both.acquire().close();
    }

    @Test
    @Tag("H37")
    void askingWhileHolding_endsInTimeAndLeavesNothing() throws Exception {
        Lease held = mutexX.acquire();
        InterProcessLock others = new InterProcessMultiLock(other, List.of(y, x));
        CompletableFuture<Lease> wanted = others.acquireAsync();
        awaitNodes(2, 1);
        assertThat(TimedTry.on(mutexY)).isEmpty(); // behind the other's request
        awaitNodes(2, 1);
        CompletableFuture<Lease> behind = mutexY.acquireAsync();
        awaitNodes(2, 2);
        wanted.cancel(true);
        Lease onY = Soon.get(behind);
        assertThat(TimedTry.on(others)).isEmpty();
        awaitNodes(1, 1);
        onY.close();
        held.close();
        awaitNodes(0, 0);
    }

    @Test
    @Tag("H99")
    void holdsOfAThread_areSharedByAllObjectsOnThosePaths() throws Exception {
        Lease onX = mutex(client, x).acquire();
        Lease onY = mutex(client, y).acquire();
        RequestCounts before = server.requests();
        InterProcessMultiLock turned = new InterProcessMultiLock(client, List.of(y, x));
        Lease together = turned.acquire();
        Lease again = mutex(client, y).acquire();
        assertThat(server.requests().minus(before).total()).isZero();
        assertThat(MultiLease.tokensOf(together))
                .containsEntry(x, onX.fencingToken())
                .containsEntry(y, onY.fencingToken());
        assertThatThrownBy(together::fencingToken)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("fencingTokens()");
        assertThat(both.holdCount()).isEqualTo(1);
        assertThat(mutexY.holdCount()).isEqualTo(2);
        onX.close();
        onY.close();
        again.close();
        awaitNodes(1, 1);
        both.release();
        awaitNodes(0, 0);
        assertThatThrownBy(turned::release).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void members_areHeldWithTheWhole_andKeepWhatTheyNeed() throws Exception {
        Lease lease = both.acquire();
        assertThat(mutexX.isHeldByCurrentThread()).isTrue();
        assertThat(mutexX.holdCount()).isZero();
        assertThatThrownBy(mutexX::release).isInstanceOf(IllegalMonitorStateException.class);
        Lease onX = mutexX.acquire(); // at once: it is held
        Lease again = both.acquire();
        assertThat(both.holdCount()).isEqualTo(2);
        lease.close();
        awaitNodes(1, 1);
        again.close();
        awaitNodes(1, 0);
        onX.verify();
        onX.close();
        awaitNodes(0, 0);
    }

    // ---- Losing members.

    @Test
    void releaseWithAMissingNode_deletesTheOthers() throws Exception {
        Lease lease = both.acquire();
        server.deleteNode(node(x));
        RequestCounts before = server.requests();
        lease.close();
        awaitNodes(0, 0);
        assertThat(server.requests()
                        .minus(before)
                        .consistsOf(RequestType.MULTI, RequestType.DELETE, RequestType.DELETE))
                .isTrue();
    }
}
