// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** Refused deletions end when their node or session is gone. */
@Timeout(600)
@WithZooKeeper
@Tag("H81")
class RefusedDeletionsIT {
    private static final int NODES = 50;
    private static final Duration REQUEST_TIMEOUT = Duration.ofMillis(50);
    private static final List<ACL> JOIN_ONLY =
            List.of(new ACL(Perms.ALL & ~Perms.DELETE, ZooDefs.Ids.ANYONE_ID_UNSAFE));

    private final EmbeddedZooKeeper server;
    private final String root;
    private ZooKeeperClient client;

    RefusedDeletionsIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.root = "/" + test.getTestMethod().orElseThrow().getName();
    }

    @BeforeEach
    void leaveNodesThatMayNotBeDeleted() throws Exception {
        client = ZooKeeperClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(Duration.ofSeconds(20))
                .requestTimeout(REQUEST_TIMEOUT)
                .build();
        assertThat(client.awaitConnected(Duration.ofSeconds(20))).isTrue();
        List<CompletableFuture<Lease>> wanted = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            wanted.add(new InterProcessMutex(client, path(i)).acquireAsync());
        }
        List<Lease> leases = wanted.stream().map(Soon::get).toList();
        ZooKeeper plain = client.zooKeeper().orElseThrow();
        for (int i = 0; i < NODES; i++) {
            plain.setACL(path(i), new ArrayList<>(JOIN_ONLY), -1);
        }
        leases.stream()
                .map(Lease::closeAsync)
                .toList()
                .forEach(closed -> assertThat(closed).failsWithin(Duration.ofSeconds(120)));
    }

    @AfterEach
    void close() {
        client.close();
    }

    private String path(int i) {
        return root + "/" + i;
    }

    private void assertFallsSilent() {
        AtomicLong last = new AtomicLong(-1);
        await().during(REQUEST_TIMEOUT.multipliedBy(30))
                .atMost(Duration.ofSeconds(120))
                .until(() -> {
                    long now = server.requests().of(RequestType.MULTI)
                            + server.requests().of(RequestType.DELETE);
                    return last.getAndSet(now) == now;
                });
    }

    @Test
    void nodesDeletedByOthers_areNoLongerRequested() {
        for (int i = 0; i < NODES; i++) {
            server.deleteNode(path(i) + "/" + server.children(path(i)).get(0));
        }
        assertFallsSilent();
    }

    @Test
    void nodesGoneWithTheirSession_areNoLongerRequested() {
        long session = client.zooKeeper().orElseThrow().getSessionId();
        assertThat(server.expireSession(session)).isTrue();
        Soon.await()
                .until(() -> client.connectionState() == ConnectionState.CONNECTED
                        && client.zooKeeper().orElseThrow().getSessionId() != session);
        assertFallsSilent();
    }
}
