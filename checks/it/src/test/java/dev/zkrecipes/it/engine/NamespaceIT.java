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
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

/** Where the locks of a client are, and with which rights, as its builder says. */
class NamespaceIT extends ServerStage {
    private static final List<ACL> LOCAL = List.of(new ACL(ZooDefs.Perms.ALL, new Id("ip", "127.0.0.1")));

    @Test
    void everyRecipe_staysBelowTheNamespace() throws Exception {
        try (ZooKeeperClient client = TestClients.connect(settings().namespace("/shop/locks"))) {
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
        try (ZooKeeperClient client = TestClients.connect(settings().namespace("/"))) {
            assertThat(new InterProcessMutex(client, "/x").path()).isEqualTo("/x");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> settings().namespace("shop"))
                .withMessageStartingWith("bad namespace \"shop\": ");
    }

    @Test
    void semaphore_isNamedWithTheNamespace() throws Exception {
        ZooKeeperClient client = client(settings().namespace("/billing"));
        InterProcessSemaphore permits = new InterProcessSemaphore(client, "/permits", 2);
        assertThat(permits.path()).isEqualTo("/billing/permits");
        assertThat(permits.toString()).contains("/billing/permits");
        permits.acquire().close();
        assertThat(permits.maxLeases()).isEqualTo(2);
        permits.resize(3);
        assertThatThrownBy(new InterProcessSemaphore(client, "/permits", 5)::acquire)
                .hasMessageContaining("the semaphore /billing/permits was made with 2 permits");
    }

    @Test
    void eachPath_hasTheAclOfItsLock() throws Exception {
        ZooKeeperClientBuilder settings = settings()
                .namespace("/n")
                .aclByPath(path -> path.startsWith("/n/secret") ? LOCAL : ZooDefs.Ids.OPEN_ACL_UNSAFE);
        ZooKeeperClient client = client(settings);
        new InterProcessMutex(client, "/secret/x").acquire().close();
        new InterProcessMutex(client, "/open/x").acquire().close();
        var zooKeeper = client.zooKeeper().orElseThrow();
        assertThat(zooKeeper.getACL("/n/secret/x", new Stat())).isEqualTo(LOCAL);
        assertThat(zooKeeper.getACL("/n/open/x", new Stat())).isEqualTo(ZooDefs.Ids.OPEN_ACL_UNSAFE);
    }

    @Test
    void unusableAcl_isRefusedWhenTheLockIsCreated() throws Exception {
        try (ZooKeeperClient client = TestClients.connect(settings().aclByPath(path -> List.of()))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new InterProcessMutex(client, "/x"))
                    .withMessageContaining("the ACL is empty");
        }
        ZooKeeperClient client = client(settings().aclByPath(path -> {
            throw new IllegalStateException("no rights for " + path);
        }));
        assertThatThrownBy(() -> new InterProcessMutex(client, "/x")).hasMessage("no rights for /x");
    }
}
