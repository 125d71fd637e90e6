// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A path, a node or a request too large for a packet fails its own lock, and costs others at most two connections. */
@Tag("H75")
@Timeout(600)
@Execution(ExecutionMode.CONCURRENT)
class LargePacketsIT {
    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
    private final String path = "/large";
    private ZooKeeperClient client;
    private Lease other;
    private RequestCounts before;

    @BeforeEach
    void holdAnotherLock() throws Exception {
        client = ZooKeeperClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(Duration.ofSeconds(20))
                .build();
        other = new InterProcessMutex(client, path + "-other").acquireAsync().get(120, TimeUnit.SECONDS);
        before = server.requests();
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    private long brokenConnections() {
        return server.requests().minus(before).of(RequestType.RESUME_SESSION);
    }

    /** The names are not those of lock nodes, so no request waits for them. */
    private List<String> createForeignChildren(int count) {
        server.createNode(path, new byte[0]);
        List<String> foreign = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String child = path + "/" + "an-order-with-a-long-and-telling-name-".repeat(5) + i;
            server.createNode(child, new byte[0]);
            foreign.add(child);
        }
        return foreign;
    }

    @Test
    void pathWithTooManyChildren_failsByName_untilTheyAreRemoved() throws Exception {
        List<String> foreign = createForeignChildren(6000);
        InterProcessLock lock = new InterProcessMutex(client, path);
        assertThatThrownBy(() -> lock.acquireAsync().get(120, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(LockLimitException.class)
                .hasMessageContaining(path)
                .hasMessageMatching("(?s).*600[01] children.*")
                .hasMessageContaining("jute.maxbuffer");
        assertThat(brokenConnections()).isLessThanOrEqualTo(2);
        for (int i = 0; i < 5; i++) {
            assertThatThrownBy(() -> lock.acquireAsync().get(120, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(LockLimitException.class);
        }
        assertThat(brokenConnections()).isLessThanOrEqualTo(2);
        await().atMost(Duration.ofSeconds(120)).until(other::isValid);

        foreign.forEach(server::deleteNode);
        await().ignoreExceptions().atMost(Duration.ofSeconds(120)).until(() -> {
            lock.acquireAsync().get(120, TimeUnit.SECONDS).close();
            return true;
        });
        assertThat(brokenConnections()).isLessThanOrEqualTo(2);
    }

    @Test
    void nodeWithTooMuchData_failsItsReaders_byName() throws Exception {
        server.createNode(path, new byte[0]);
        String foreign = path + "/0123456789abcdef0123456789abcdef-lock-0000000000";
        server.createNode(foreign, new byte[1_200_000]);
        InterProcessLock lock = new InterProcessMutex(client, path);
        await().atMost(Duration.ofSeconds(120))
                .ignoreException(LockConnectionException.class)
                .until(() -> {
                    try {
                        lock.participants();
                        return false;
                    } catch (LockLimitException e) {
                        assertThat(e).hasMessageContaining(path).hasMessageContaining("1200000 bytes of data");
                        return true;
                    }
                });
        for (int i = 0; i < 5; i++) {
            assertThatThrownBy(lock::participants).isInstanceOf(LockLimitException.class);
        }
        assertThat(brokenConnections()).isLessThanOrEqualTo(2);
        await().atMost(Duration.ofSeconds(120)).until(other::isValid);
    }

    @Test
    void oversizedRequest_isRefusedBeforeAnythingIsSent() {
        List<ACL> longAcl = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            longAcl.add(new ACL(
                    Perms.ALL, new Id("digest", "somebody-with-a-long-name-" + i + ":0123456789abcdef012345678901")));
        }
        longAcl.add(new ACL(Perms.ALL, new Id("world", "anyone")));
        List<InterProcessLock> members = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            members.add(new InterProcessMutex(
                    client,
                    path + "/" + "x".repeat(100) + i,
                    LockOptions.defaults().withAcl(longAcl)));
        }
        InterProcessLock together = new InterProcessMultiLock(members);
        assertThatThrownBy(() -> together.acquireAsync().get(120, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(LockLimitException.class)
                .hasMessageContaining("500 nodes")
                .hasMessageContaining("jute.maxbuffer");
        assertThat(brokenConnections()).isZero();
        RequestCounts sent = server.requests().minus(before);
        assertThat(sent.of(RequestType.GET_CHILDREN2) + sent.of(RequestType.MULTI_READ))
                .as("%s", sent)
                .isZero();
        Soon.await().until(other::isValid);
    }
}
