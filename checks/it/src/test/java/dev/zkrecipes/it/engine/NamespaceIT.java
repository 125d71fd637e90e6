// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where the locks of a client are, and with which rights, as its builder says. */
@Timeout(600)
@WithZooKeeper
class NamespaceIT {
    private static final List<ACL> LOCAL = List.of(new ACL(ZooDefs.Perms.ALL, new Id("ip", "127.0.0.1")));

    private static ZooKeeperClientBuilder to(EmbeddedZooKeeper server) {
        return ZooKeeperClient.builder().connectString(server.connectString());
    }

    @Test
    void everyRecipe_staysBelowTheNamespace(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient client = TestClients.connect(to(server).namespace("/shop/locks"))) {
            Stream<InterProcessLock> locks = Stream.of(
                    new InterProcessMutex(client, "/mutex"),
                    new InterProcessReadWriteLock(client, "/read").readLock(),
                    new InterProcessSemaphore(client, "/permits", 2).permits(1));
            for (InterProcessLock lock : locks.toList()) {
                try (Lease lease = lock.acquire()) {
                    assertThat(lock.path()).startsWith("/shop/locks/").isEqualTo(lease.path());
                    assertThat(server.children(lock.path())).hasSize(1);
                    assertThat(MultiLease.tokensOf(lease)).containsOnlyKeys(lock.path());
                    client.zooKeeper().orElseThrow().multi(List.of(lease.guard()));
                }
            }
            InterProcessMultiLock both = new InterProcessMultiLock(client, List.of("/a", "/b"));
            assertThat(both.path()).isEqualTo("/shop/locks/a,/shop/locks/b");
            both.acquire().close();
            assertThat(new InterProcessMutex(client, "/").path()).isEqualTo("/shop/locks");
        }
        try (ZooKeeperClient client = TestClients.connect(to(server).namespace("/"))) {
            assertThat(new InterProcessMutex(client, "/x").path()).isEqualTo("/x");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> to(server).namespace("shop"))
                .withMessageStartingWith("bad namespace \"shop\": ");
    }

    @Test
    void semaphore_isNamedWithTheNamespace(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient client = TestClients.connect(to(server).namespace("/billing"))) {
            InterProcessSemaphore permits = new InterProcessSemaphore(client, "/permits", 2);
            assertThat(permits.path()).isEqualTo("/billing/permits");
            assertThat(permits.toString()).contains("/billing/permits");
            permits.acquire().close();
            assertThat(permits.maxLeases()).isEqualTo(2);
            permits.resize(3);
            assertThatThrownBy(new InterProcessSemaphore(client, "/permits", 5)::acquire)
                    .hasMessageContaining("the semaphore /billing/permits was made with 2 permits");
        }
    }

    @Test
    void eachPath_hasTheAclOfItsLock(EmbeddedZooKeeper server) throws Exception {
        ZooKeeperClientBuilder settings = to(server)
                .namespace("/n")
                .aclByPath(path -> path.startsWith("/n/secret") ? LOCAL : ZooDefs.Ids.OPEN_ACL_UNSAFE);
        try (ZooKeeperClient client = TestClients.connect(settings)) {
            new InterProcessMutex(client, "/secret/x").acquire().close();
            new InterProcessMutex(client, "/open/x").acquire().close();
            var zooKeeper = client.zooKeeper().orElseThrow();
            assertThat(zooKeeper.getACL("/n/secret/x", new Stat())).isEqualTo(LOCAL);
            assertThat(zooKeeper.getACL("/n/open/x", new Stat())).isEqualTo(ZooDefs.Ids.OPEN_ACL_UNSAFE);
        }
    }

    @Test
    void unusableAcl_isRefusedWhenTheLockIsCreated(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient client = TestClients.connect(to(server).aclByPath(path -> List.of()))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new InterProcessMutex(client, "/x"))
                    .withMessageContaining("the ACL is empty");
        }
        try (ZooKeeperClient client = TestClients.connect(to(server).aclByPath(path -> {
            throw new IllegalStateException("no rights for " + path);
        }))) {
            assertThatThrownBy(() -> new InterProcessMutex(client, "/x")).hasMessage("no rights for /x");
        }
    }
}
