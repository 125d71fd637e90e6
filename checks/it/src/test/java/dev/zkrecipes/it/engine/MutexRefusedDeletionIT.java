// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A client that may join but not delete, on a path whose rights it did not choose. */
@Tag("H47")
class MutexRefusedDeletionIT extends ServerStage {
    private static final Identity ALICE = new Identity("alice");
    private static final List<ACL> JOIN_ONLY = ALICE.acl(Perms.ALL & ~Perms.DELETE);
    private ZooKeeperClient alice;
    private InterProcessMutex mutex;

    @BeforeEach
    void connect() throws Exception {
        alice = opened(Identity.connected(ALICE.builder(server.connectString()).requestTimeout(Duration.ofSeconds(2))));
        server.createNode(path, new byte[0]);
        setRights(JOIN_ONLY);
        mutex = new InterProcessMutex(alice, path);
    }

    private void setRights(List<ACL> acl) throws Exception {
        Identity.plain(alice).setACL(path, new ArrayList<>(acl), -1);
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
    void fixedRights_letTheNodeGo() throws Exception {
        Lease lease = mutex.acquire();
        closeInVain(lease);
        assertThat(server.children(path)).hasSize(1);
        setRights(ALICE.acl(Perms.ALL));
        awaitNodes(0);
        mutex.acquire().close();
    }
}
