// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lock with its own ACL, among users of the scheme digest. */
class MutexAclIT extends ServerStage {
    private static final Identity ALICE = new Identity("alice");
    private static final Identity MALLORY = new Identity("mallory");
    private static final List<ACL> OPEN = ZooDefs.Ids.OPEN_ACL_UNSAFE;
    private static final int USE = Perms.READ | Perms.CREATE | Perms.DELETE;
    private final LockOptions options = LockOptions.defaults().withAcl(ALICE.acl(Perms.ALL));
    private ZooKeeperClient alice;
    private ZooKeeperClient mallory;

    @BeforeEach
    void connect() throws InterruptedException {
        path = path + "/lock";
        alice = opened(ALICE.connect(server.connectString()));
        mallory = opened(MALLORY.connect(server.connectString()));
    }

    private InterProcessMutex mutex(ZooKeeperClient client) {
        return new InterProcessMutex(client, path, options);
    }

    private static List<ACL> aclOf(ZooKeeperClient client, String node) throws Exception {
        return Identity.plain(client).getACL(node, new Stat());
    }

    private void make(ZooKeeperClient client, String node, List<ACL> acl) throws Exception {
        Identity.plain(client).create(node, new byte[0], new ArrayList<>(acl), CreateMode.PERSISTENT);
    }

    private void makeGrandparent() {
        server.createNode(path.substring(0, path.lastIndexOf('/')), new byte[0]);
    }

    @Test
    void creatorAcl_isComparedByIdentity() throws Exception {
        LockOptions creators = LockOptions.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL);
        new InterProcessMutex(alice, path, creators).acquire().close();
        assertThat(aclOf(alice, path)).isEqualTo(ALICE.acl(Perms.ALL));
        try (ZooKeeperClient again = opened(ALICE.connect(server.connectString()))) {
            new InterProcessMutex(again, path, creators).acquire().close();
        }
        assertThatThrownBy(new InterProcessMutex(mallory, path, creators)::acquire)
                .isInstanceOf(LockAccessException.class);
    }

    @Test
    void missingCredentials_areNamedByTheError() throws Exception {
        LockOptions creators = LockOptions.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL);
        try (ZooKeeperClient nobody = Identity.connected(settings())) {
            assertThatThrownBy(new InterProcessMutex(nobody, path, creators)::acquire)
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining(path)
                    .hasMessageContaining("add its credentials");
        }
    }

    @Test
    @Tag("H63")
    void changedRights_areSeenOnTheNextUse() throws Exception {
        InterProcessMutex mutex = mutex(alice);
        mutex.acquire().close();
        Identity.plain(alice).setACL(path, new ArrayList<>(OPEN), -1);
        assertThatThrownBy(mutex::acquire).isInstanceOf(LockAccessException.class);
        Identity.plain(alice).setACL(path, new ArrayList<>(ALICE.acl(Perms.ALL)), -1);
        mutex.acquire().close();
    }

    @Test
    void pathWithOtherPasswords_isReportedAsSuch() throws Exception {
        makeGrandparent();
        List<ACL> forged = List.of(
                ALICE.acl(Perms.ALL).get(0), new ACL(Perms.ALL, new Id("digest", "bob:AAAAAAAAAAAAAAAAAAAAAAAAAAA=")));
        List<ACL> right = List.of(
                ALICE.acl(Perms.ALL).get(0), new ACL(Perms.ALL, new Id("digest", "bob:BBBBBBBBBBBBBBBBBBBBBBBBBBA=")));
        make(alice, path, forged);
        assertThatThrownBy(new InterProcessMutex(
                        alice, path, LockOptions.defaults().withAcl(right))::acquire)
                .isInstanceOf(LockAccessException.class)
                .hasMessageContaining("with other passwords")
                .hasMessageNotContaining("AAAAA");
    }

    @Test
    void clientWithoutTheRightToDelete_isRefusedBeforeItLeavesANode() throws Exception {
        makeGrandparent();
        make(alice, path, ALICE.acl(Perms.READ | Perms.CREATE | Perms.ADMIN));
        assertThatThrownBy(mutex(alice)::acquire)
                .isInstanceOf(LockAccessException.class)
                .hasMessageContaining("READ, CREATE and DELETE");
        assertThat(server.children(path)).isEmpty();
    }

    // ---- An identity without rights.

    @Test
    @Tag("H63")
    void identityWithoutRights_isRefusedEverything_andTheLockIsUnharmed() throws Exception {
        try (ZooKeeperClient other = opened(ALICE.connect(server.connectString()))) {
            InterProcessMutex mutex = mutex(alice);
            Lease lease = mutex.acquire();
            String held = node();
            CompletableFuture<Lease> waiter = mutex(other).acquireAsync();
            awaitNodes(2);

            InterProcessLock theirs = new InterProcessMutex(mallory, path);
            ZooKeeper handle = Identity.plain(mallory);
            assertRefused(() -> theirs.acquire());
            assertRefused(() -> theirs.tryAcquire());
            assertRefused(() -> theirs.tryAcquire(Duration.ofSeconds(120)));
            assertRefused(() -> mutex(mallory).acquire());
            assertThat(theirs.acquireAsync())
                    .failsWithin(Duration.ofSeconds(120))
                    .withThrowableThat()
                    .withCauseInstanceOf(LockAccessException.class);
            assertRefused(() -> theirs.participants());
            assertThatThrownBy(() -> handle.delete(held, -1)).isInstanceOf(KeeperException.NoAuthException.class);
            assertThatThrownBy(() -> handle.getData(held, false, null))
                    .isInstanceOf(KeeperException.NoAuthException.class);
            byte[] mark = "__REVOKE__".getBytes(StandardCharsets.UTF_8);
            assertThatThrownBy(() -> handle.setData(held, mark, -1))
                    .isInstanceOf(KeeperException.NoAuthException.class);
            assertThatThrownBy(() ->
                            handle.create(path + "/x-lock-", new byte[0], new ArrayList<>(OPEN), CreateMode.EPHEMERAL))
                    .isInstanceOf(KeeperException.NoAuthException.class);

            Participant holder = mutex.participants().get(0); // as if it had been told
            Revoker revoker = new Revoker(mallory);
            for (Duration grace : List.of(Duration.ofMinutes(1), Duration.ofMillis(1))) {
                assertThatThrownBy(() -> revoker.withGrace(grace).request(holder))
                        .isInstanceOf(LockAccessException.class)
                        .hasMessageContaining(held);
            }

            lease.verify();
            assertThat(server.children(path)).hasSize(2);
            assertThat(mutex.participants().get(0).owner()).isEqualTo("client of alice");
            lease.close();
            Soon.get(Soon.get(waiter).closeAsync());
        }
    }

    private interface Attempt {
        void run() throws InterruptedException;
    }

    private void assertRefused(Attempt attempt) {
        LockAccessException refusal = catchThrowableOfType(LockAccessException.class, attempt::run);
        assertThat(refusal)
                .hasMessageContaining("lock " + path)
                .hasMessageContaining("the client needs READ, CREATE and DELETE on the lock path");
    }

    @Test
    void unreadableNodes_areShownWithoutTheirOwner() throws Exception {
        server.createNode(path.substring(0, path.lastIndexOf('/')), new byte[0]);
        server.createNode(path, new byte[0]); // open to everybody
        ZooKeeperClient closed =
                Identity.connected(ALICE.builder(server.connectString()).acl(ALICE.acl(USE)));
        try (closed;
                Lease lease = new InterProcessMutex(closed, path).acquire()) {
            Soon.await().until(lease::isValid);
            assertThat(new InterProcessMutex(mallory, path).participants())
                    .singleElement()
                    .satisfies(participant -> {
                        assertThat(participant.owner()).isEqualTo("unknown");
                        assertThat(participant.holding()).isTrue();
                    });
        }
    }
}
