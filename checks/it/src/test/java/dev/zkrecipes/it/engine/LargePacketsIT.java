// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A path that is too large for a packet fails its own lock, and costs others at most two connections. */
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
}
