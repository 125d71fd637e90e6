// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** ZooKeeper never removes a container that never had a child: an acquire that gives up has to do that. */
@Timeout(600)
@WithZooKeeper
@Tag("H87")
class UnusedContainerIT {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final EmbeddedZooKeeper server;
    private final String root;
    private FaultProxy proxy;
    private ZooKeeperClient client;

    UnusedContainerIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.root = "/c" + Integer.toHexString(test.getDisplayName().hashCode())
                + test.getTestMethod().orElseThrow().getName();
    }

    @BeforeEach
    void connect() throws InterruptedException {
        proxy = FaultProxy.to(server);
        client = ZooKeeperClient.builder()
                .connectString(proxy.connectString())
                .sessionTimeout(Duration.ofSeconds(60))
                .build();
        assertThat(client.awaitConnected(LIMIT)).isTrue();
    }

    @AfterEach
    void close() {
        client.close();
        proxy.close();
    }

    private void assertNothingIsLeft() {
        Soon.await().until(() -> {
            server.reapContainers();
            return !server.nodeExists(root);
        });
    }

    /** The path has three parts, all of which have to be made, from the top. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6})
    void acquireAbandonedDuringThePathsCreation_leavesNoContainer(int nth) throws Exception {
        Held reply = proxy.holdReply(RequestType.CREATE_CONTAINER, nth);
        CompletableFuture<Lease> wanted = new InterProcessMutex(client, root + "/b/c").acquireAsync();
        Soon.await().until(() -> reply.isReached() || wanted.isDone());
        wanted.cancel(false);
        reply.release();
        if (wanted.isCancelled()) {
            assertNothingIsLeft();
        } else {
            Soon.get(Soon.get(wanted).closeAsync()); // there were fewer requests
            assertNothingIsLeft();
        }
    }

    @Test
    void acquireAbandonedDuringItsCreate_leavesNoContainer() throws Exception {
        Held request = proxy.holdRequest(RequestType.CREATE2, 2);
        CompletableFuture<Lease> wanted = new InterProcessMutex(client, root).acquireAsync();
        request.awaitReached(LIMIT);
        wanted.cancel(false);
        request.release();
        assertNothingIsLeft();
    }

    @Test
    void clientClosedDuringThePathsCreation_leavesNoContainer() throws Exception {
        Held reply = proxy.holdReply(RequestType.CREATE_CONTAINER, 1);
        CompletableFuture<Lease> wanted = new InterProcessMutex(client, root).acquireAsync();
        reply.awaitReached(LIMIT);
        CompletableFuture<Void> closing = CompletableFuture.runAsync(client::close, task -> new Thread(task).start());
        assertThat(wanted).failsWithin(LIMIT);
        reply.release();
        assertThat(closing).succeedsWithin(LIMIT);
        assertThat(server.nodeExists(root)).isFalse();
    }

    @Test
    void containerInUse_stays() throws Exception {
        Held reply = proxy.holdReply(RequestType.CREATE_CONTAINER, 1);
        CompletableFuture<Lease> wanted = new InterProcessMutex(client, root).acquireAsync();
        reply.awaitReached(LIMIT);
        try (ZooKeeperClient other = ZooKeeperClient.connect(server.connectString());
                Lease used = new InterProcessMutex(other, root).acquire()) {
            wanted.cancel(false);
            reply.release();
            long before = server.requests().of(RequestType.MULTI);
            Soon.await().until(() -> server.requests().of(RequestType.MULTI) > before);
            used.verify();
        }
    }
}
