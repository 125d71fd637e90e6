// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What {@code zklock ls} says of Curator's locks, alone and beside ours. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class ListedCuratorIT {
    private static int paths;

    private final EmbeddedZooKeeper server;
    private String path = "";
    private CuratorFramework curator;
    private ZooKeeperClient client;

    ListedCuratorIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    @BeforeEach
    void open() throws InterruptedException {
        path = "/listed/" + paths++;
        client = TestClients.connect(ZooKeeperClient.builder().connectString(server.connectString()));
        curator = CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(100));
        curator.start();
    }

    @AfterEach
    void close() {
        client.close();
        curator.close();
    }

    private List<String> ls() {
        Ran ran = Ran.zklock("ls", "--connect", server.connectString(), path);
        assertThat(ran.code()).isZero();
        return ran.out().lines().toList();
    }

    private void awaitNodes(String folder, int count) {
        Soon.await()
                .until(() ->
                        server.nodeExists(folder) && server.children(folder).size() == count);
    }

    @Test
    void mutexOfBothLibraries_isOneQueue() throws Exception {
        new org.apache.curator.framework.recipes.locks.InterProcessMutex(curator, path).acquire();
        CompletableFuture<Lease> waiting = new InterProcessMutex(client, path).acquireAsync();
        awaitNodes(path, 2);
        List<String> lines = ls();
        assertThat(lines.get(0)).isEqualTo(path + ": mutex, 1 holds, 1 waits");
        assertThat(lines.get(2))
                .contains("holds", session(curator.getZookeeperClient().getZooKeeper()), "_c_", "-lock-0000000000");
        assertThat(lines.get(3)).contains("waits", session(client.zooKeeper().orElseThrow()));
        assertThat(waiting).isNotDone();
    }

    private static String session(ZooKeeper handle) {
        return "0x" + Long.toHexString(handle.getSessionId());
    }

    @Test
    void semaphore_showsLeases_theNextInLine_andTheQueue() throws Exception {
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(curator, path, 2);
        semaphore.setNodeData("crawler".getBytes(StandardCharsets.UTF_8));
        semaphore.acquire(2);
        Soon.await().until(() -> server.children(path + "/locks").isEmpty());
        assertThat(ls().get(0)).isEqualTo(path + ": Curator's semaphore, 2 hold, 0 wait");
        assertThat(ls().get(2)).contains("holds  1 permit", "crawler  leases/_c_");
        Thread third = waiter(semaphore::acquire);
        awaitNodes(path + "/leases", 3);
        awaitNodes(path + "/locks", 1);
        Thread fourth = waiter(semaphore::acquire);
        awaitNodes(path + "/locks", 2);
        List<String> lines = ls();
        assertThat(lines.get(0)).isEqualTo(path + ": Curator's semaphore, 2 hold, 1 waits, 1 of unknown state");
        assertThat(lines.get(4)).matches(" +2  \\? .*leases/_c_.*");
        assertThat(lines.get(5)).matches(" +3  waits .*locks/_c_.*");
        end(fourth);
        end(third);
    }

    /** A call that waits. */
    private interface Acquire {
        void run() throws Exception;
    }

    private static Thread waiter(Acquire acquire) {
        Thread thread = new Thread(() -> {
            try {
                acquire.run();
            } catch (Exception e) {
                // It was interrupted.
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void end(Thread waiter) throws InterruptedException {
        assertThat(waiter.isAlive()).isTrue();
        waiter.interrupt();
        waiter.join(20_000);
    }

    @Test
    void leaderLatch_showsItsLeader() throws Exception {
        try (LeaderLatch first = new LeaderLatch(curator, path, "alice");
                LeaderLatch second = new LeaderLatch(curator, path, "bob")) {
            first.start();
            Soon.await().until(first::hasLeadership);
            second.start();
            awaitNodes(path, 2);
            assertThat(ls().get(0)).isEqualTo(path + ": leader election, 1 leads, 1 stands");
            assertThat(ls().get(2)).contains(" leads   leadership", "  alice  ");
            assertThat(ls().get(3)).contains(" stands  leadership", "  bob  ");
            assertThat(Ran.zklock("revoke", "--connect", server.connectString(), path)
                            .err())
                    .contains("leader latches do not support them");
        }
    }
}
