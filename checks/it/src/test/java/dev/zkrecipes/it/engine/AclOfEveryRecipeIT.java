// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.mutex.InterProcessSemaphoreMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BiFunction;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A lock with its own ACL creates everything with it, whatever the recipe, and refuses a path with another ACL. */
@Tag("H63")
class AclOfEveryRecipeIT extends ServerStage {
    private static final LockOptions MINE = LockOptions.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL);
    private ZooKeeperClient client;
    private ZooKeeper handle;

    /** Each way to hold a lock. */
    private enum Kind {
        MUTEX((client, path) -> new InterProcessMutex(client, path, MINE)),
        SEMAPHORE_MUTEX((client, path) -> new InterProcessSemaphoreMutex(client, path, MINE)),
        READ_LOCK((client, path) -> new InterProcessReadWriteLock(client, path, MINE).readLock()),
        WRITE_LOCK((client, path) -> new InterProcessReadWriteLock(client, path, MINE).writeLock()),
        PERMITS((client, path) -> new InterProcessSemaphore(client, path, 3, MINE).permits(2)),
        MULTI_LOCK(
                (client, path) -> new InterProcessMultiLock(client, List.of(path + "/a", path, path + "/b/c"), MINE)),
        MEMBERS((client, path) -> new InterProcessMultiLock(List.of(
                MUTEX.make(client, path), PERMITS.make(client, path + "/p"), WRITE_LOCK.make(client, path + "/w"))));

        private final BiFunction<ZooKeeperClient, String, InterProcessLock> maker;

        Kind(BiFunction<ZooKeeperClient, String, InterProcessLock> maker) {
            this.maker = maker;
        }

        InterProcessLock make(ZooKeeperClient client, String path) {
            return maker.apply(client, path);
        }
    }

    @BeforeEach
    void connect() throws InterruptedException {
        client = opened(connected());
        handle = client.zooKeeper().orElseThrow();
    }

    private ZooKeeperClient connected() throws InterruptedException {
        return TestClients.connect(settings().auth("digest", "alice:secret".getBytes(StandardCharsets.UTF_8)));
    }

    private void assertAllMine() throws Exception {
        Deque<String> left = new ArrayDeque<>(List.of(path));
        while (!left.isEmpty()) {
            String node = left.remove();
            List<ACL> acl = handle.getACL(node, new Stat());
            assertThat(acl).as(node).singleElement().satisfies(entry -> {
                assertThat(entry.getPerms()).isEqualTo(ZooDefs.Perms.ALL);
                assertThat(entry.getId().getId()).startsWith("alice:");
            });
            server.children(node).forEach(child -> left.add(node + "/" + child));
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void everyNode_hasTheAcl(Kind kind) throws Exception {
        InterProcessLock lock = kind.make(client, path);
        try (Lease lease = lock.acquire()) {
            lease.verify();
            assertAllMine();
        }
        assertThat(lock.participants()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void pathWithAnotherOwner_isRefused(Kind kind) {
        byte[] limit = "zkrecipes 1\nconfigured=3\ncurrent=3\n".getBytes(StandardCharsets.UTF_8);
        server.createNode(path, limit); // open to everybody
        assertThatThrownBy(kind.make(client, path)::acquire)
                .isInstanceOf(LockAccessException.class)
                .hasMessageContaining("lock " + path + ": the path exists with the rights")
                .hasMessageContaining("[world:anyone rwcda]")
                .hasMessageContaining("[digest:alice rwcda]");
        Soon.await().untilAsserted(() -> assertThat(server.children(path)).noneMatch(LockNode::isLockForm));
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void laterUses_costNoExtraRequests(Kind kind) throws Exception {
        InterProcessLock lock = kind.make(client, path);
        lock.acquire().close();
        RequestCounts start = server.requests();
        lock.acquire().close();
        RequestCounts cost = server.requests().minus(start);
        assertThat(cost.of(RequestType.GET_ACL)).as(cost.toString()).isZero();
        assertThat(cost.total()).as(cost.toString()).isEqualTo(3);
    }

    @Test
    void downgrade_keepsTheAcl() throws Exception {
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path, MINE);
        Lease write = lock.writeLock().acquire();
        try (Lease read = lock.readLock().acquire()) {
            assertThat(server.children(path)).hasSize(2);
            assertAllMine();
            write.close();
            read.verify();
        }
    }

    @Test
    void resize_keepsTheAcl_andCreatesThePathWithIt() throws Exception {
        new InterProcessSemaphore(client, path, 3, MINE).resize(5);
        assertAllMine();
        try (Lease lease = new InterProcessSemaphore(client, path, 3, MINE).acquire(5)) {
            lease.verify();
            assertAllMine();
        }
    }

    /** READ, CREATE and DELETE are enough for all else that a semaphore does. */
    @Test
    void resizeWithoutTheRightToWrite_namesThatRight() throws Exception {
        List<ACL> noWrite = List.of(new ACL(Perms.READ | Perms.CREATE | Perms.DELETE, ZooDefs.Ids.AUTH_IDS));
        InterProcessSemaphore semaphore = new InterProcessSemaphore(
                client, path, 3, LockOptions.defaults().withAcl(noWrite));
        semaphore.acquire().close();
        assertThatThrownBy(() -> semaphore.resize(5))
                .isInstanceOf(LockAccessException.class)
                .hasMessage(
                        "lock " + path + ": ZooKeeper refused to change the data of " + path
                                + " (NOAUTH); the client needs WRITE on the lock path for that, beside READ, CREATE and DELETE");
        assertThat(semaphore.maxLeases()).isEqualTo(3);
    }

    @Test
    void aclOtherThanThatOfTheMembers_isRefused() throws Exception {
        List<InterProcessLock> others = List.of(new InterProcessMutex(client, path));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new InterProcessMultiLock(others, MINE))
                .withMessageContaining(path)
                .withMessageContaining("options of the members");
        try (ZooKeeperClient second = connected()) {
            InterProcessMultiLock mixed = new InterProcessMultiLock(
                    List.of(Kind.MUTEX.make(client, path), Kind.MUTEX.make(second, path + "/2")), MINE);
            try (Lease lease = mixed.acquire()) {
                Soon.await().until(lease::isValid);
                assertAllMine();
            }
        }
    }

    @Test
    void lockWithTheClientsAcl_acceptsAnExistingPath() throws Exception {
        handle.create(path, new byte[0], new ArrayList<>(ZooDefs.Ids.OPEN_ACL_UNSAFE), CreateMode.PERSISTENT);
        new InterProcessMutex(client, path).acquire().close();
    }
}
