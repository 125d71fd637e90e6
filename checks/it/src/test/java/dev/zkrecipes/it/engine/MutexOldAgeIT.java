// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.Fault;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** P13: a lock path that has numbered two billion nodes is reset, and nobody who holds or waits is harmed. */
class MutexOldAgeIT extends ServerStage {
    private static final int OLD = 1 << 30;
    private static final int WORN_OUT = Integer.MAX_VALUE - (1 << 20) + 1;
    private String parent;
    private ZooKeeperClient client;

    @BeforeEach
    void connect() throws InterruptedException {
        parent = path;
        path = parent + "/lock";
        client = client();
    }

    private void age(int next) {
        server.setSequenceCounter(path, next);
    }

    private List<Long> numbers() {
        return server.children(path).stream()
                .map(name -> Long.parseLong(name.substring(name.length() - 10)))
                .toList();
    }

    @Test
    @Tag("H05")
    void reset_isOneMulti_andOnlyForAnOldCounter() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        mutex.acquire().close();
        age(OLD - 1);
        RequestCounts before = server.requests();
        mutex.acquire().close();
        Lease old = mutex.acquire();
        old.close();
        Soon.await().until(() -> server.requests().minus(before).of(RequestType.MULTI) == 1);
        RequestCounts sent = server.requests().minus(before);
        assertThat(sent.of(RequestType.DELETE)).isEqualTo(2);
        assertThat(sent.of(RequestType.GET_DATA)).isEqualTo(1);
        assertThat(sent.of(RequestType.GET_ACL)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("H05")
    void resetWithALostRequestOrReply_leavesNothing(boolean reply) throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeperClient faulty = client(proxy);
        InterProcessMutex mutex = new InterProcessMutex(faulty, path);
        mutex.acquire().close();
        age(OLD);
        Lease old = mutex.acquire();
        long token = old.fencingToken();
        Fault fault = reply ? proxy.dropReply(RequestType.MULTI, 1) : proxy.dropRequest(RequestType.MULTI, 1);
        old.closeAsync().get();
        fault.awaitFired(Duration.ofSeconds(120));
        awaitNodes(0);
        try (Lease next = mutex.acquire()) {
            assertThat(next.fencingToken()).isGreaterThan(token);
            assertThat(numbers()).containsExactly(reply ? 0L : OLD + 1L);
        }
    }

    @Test
    @Tag("H05")
    void dataAndRightsOfThePath_areKept() throws Exception {
        ZooKeeper handle = client.zooKeeper().orElseThrow();
        handle.addAuthInfo("digest", "admin:secret".getBytes(StandardCharsets.UTF_8));
        server.createNode(parent, new byte[0]);
        List<ACL> acl = new ArrayList<>(List.of(
                new ACL(Perms.ALL, new Id("digest", DigestAuthenticationProvider.generateDigest("admin:secret"))),
                new ACL(Perms.READ, Ids.ANYONE_ID_UNSAFE)));
        handle.create(path, "note".getBytes(StandardCharsets.UTF_8), acl, CreateMode.PERSISTENT);
        age(WORN_OUT);
        new InterProcessMutex(client, path).acquire().close();
        assertThat(server.data(path)).hasValue("note".getBytes(StandardCharsets.UTF_8));
        assertThat(handle.getACL(path, new Stat())).isEqualTo(acl);
        try (Lease lease = new InterProcessMutex(client, path).acquire()) {
            assertThat(numbers()).containsExactly(1L);
        }
        server.reapContainers();
        assertThat(server.nodeExists(path)).isTrue();
    }

    @Test
    @Tag("H05")
    void chroot_isNotRecreated() throws Exception {
        server.createNode(parent, new byte[0]);
        server.setSequenceCounter(parent, WORN_OUT);
        ZooKeeperClient below = client(settings(server.connectString() + parent));
        assertThatThrownBy(new InterProcessMutex(below, "/")::acquire)
                .isInstanceOf(LockLimitException.class)
                .hasMessageContaining("root");
        assertThat(server.nodeExists(parent)).isTrue();
    }
}
