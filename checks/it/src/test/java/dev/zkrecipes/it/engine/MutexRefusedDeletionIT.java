// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** A client that may join but not delete, on a path whose rights it did not choose. */
@Timeout(600)
@WithZooKeeper
@Tag("H47")
class MutexRefusedDeletionIT {
    private static final Identity ALICE = new Identity("alice");
    private static final List<ACL> JOIN_ONLY = ALICE.acl(Perms.ALL & ~Perms.DELETE);

    private final EmbeddedZooKeeper server;
    private final String path;
    private ZooKeeperClient alice;
    private InterProcessMutex mutex;

    MutexRefusedDeletionIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/" + test.getTestMethod().orElseThrow().getName();
    }

    @BeforeEach
    void connect() throws Exception {
        alice = Identity.connected(ALICE.builder(server.connectString()).requestTimeout(Duration.ofSeconds(2)));
        server.createNode(path, new byte[0]);
        setRights(JOIN_ONLY);
        mutex = new InterProcessMutex(alice, path);
    }

    @AfterEach
    void close() {
        alice.close();
    }

    private void setRights(List<ACL> acl) throws Exception {
        Identity.plain(alice).setACL(path, new ArrayList<>(acl), -1);
    }

    private String node() {
        return path + "/" + server.children(path).get(0);
    }

    private void assertNames(String node, Throwable refusal) {
        assertThat(refusal)
                .isInstanceOf(LockAccessException.class)
                .hasMessageContaining(node)
                .hasMessageContaining("NOAUTH")
                .hasMessageContaining("DELETE rights on " + path)
                .hasMessageContaining("blocks others until its session ends");
    }

    private static void closeInVain(Lease lease) {
        assertThatThrownBy(lease::close).isInstanceOf(LockAccessException.class);
    }

    @Test
    void close_reportsTheRefusalOnceByName_andReleasesTheHold() throws Exception {
        Lease lease = mutex.acquire();
        assertNames(node(), catchThrowableOfType(LockAccessException.class, lease::close));
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(mutex.isHeldByCurrentThread()).isFalse();
        lease.close();
    }

    @Test
    void release_reportsTheRefusal() throws Exception {
        mutex.acquire();
        assertNames(node(), catchThrowableOfType(LockAccessException.class, mutex::release));
        assertThatThrownBy(mutex::release).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void closeAsync_reportsTheRefusal_onEachCall() throws Exception {
        Lease lease = mutex.acquire();
        String node = node();
        for (int i = 0; i < 2; i++) {
            assertThat(lease.closeAsync())
                    .failsWithin(Duration.ofSeconds(120))
                    .withThrowableThat()
                    .satisfies(failure -> assertNames(node, failure.getCause()));
        }
    }

    @Test
    void fixedRights_letTheNodeGo() throws Exception {
        Lease lease = mutex.acquire();
        closeInVain(lease);
        assertThat(server.children(path)).hasSize(1);
        setRights(ALICE.acl(Perms.ALL));
        Soon.await().until(() -> server.children(path).isEmpty());
        mutex.acquire().close();
    }

    @Test
    @Tag("H88")
    void nextAcquire_namesTheAbandonedNode_andIsServedWhenItIsGone() throws Exception {
        Lease lease = mutex.acquire();
        String ghost = node();
        closeInVain(lease);
        assertThat(mutex.acquireAsync())
                .failsWithin(Duration.ofSeconds(120))
                .withThrowableThat()
                .satisfies(failure -> assertNames(ghost, failure.getCause()));
        assertNames(ghost, catchThrowableOfType(LockAccessException.class, mutex::tryAcquire));
        setRights(ALICE.acl(Perms.ALL));
        Soon.await().until(() -> server.children(path).isEmpty());
        Soon.get(Soon.get(mutex.acquireAsync()).closeAsync());
    }

    @Test
    void nodeOfATimedOutRequest_goesOnceAllowed() throws Exception {
        Lease lease = mutex.acquire();
        InterProcessMutex other = new InterProcessMutex(alice, path);
        long deletes = server.requests().of(RequestType.DELETE);
        try (Workers workers = new Workers()) {
            workers.start("times out", () -> assertThat(isGranted(other)).isFalse());
            workers.join(Duration.ofSeconds(20));
        }
        Soon.await().until(() -> server.requests().of(RequestType.DELETE) > deletes); // and so before the rights change
        assertThat(server.children(path)).hasSize(2);
        setRights(ALICE.acl(Perms.ALL));
        Soon.await().until(() -> server.children(path).size() == 1);
        lease.close();
    }

    /** Tried once: the node that a first try leaves would be in the way of a second one. */
    private static boolean isGranted(InterProcessMutex mutex) throws InterruptedException {
        try {
            return mutex.tryAcquire(Duration.ofSeconds(1)).isPresent();
        } catch (LockConnectionException e) {
            return false; // on a slow machine: nobody knows whether it is busy
        }
    }

    @Test
    void closingTheClient_doesNotWait_andRemovesTheNode() throws Exception {
        Lease lease = mutex.acquire();
        closeInVain(lease);
        alice.close();
        assertThat(server.children(path)).isEmpty();
    }
}
