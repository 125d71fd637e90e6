// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.RequestType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The end of a session with many nodes is one record in the server's log, which the server must be able to read again. */
@Tag("H74")
@Tag("soak")
@Timeout(600)
class ManyNodesIT {
    private static final String LONG_PATH = "/" + "x".repeat(199);
    private static final int REQUESTS = 12_000;

    private static ZooKeeperClient connect(EmbeddedZooKeeper server) throws InterruptedException {
        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(Duration.ofSeconds(60))
                .build();
        assertThat(client.awaitConnected(Duration.ofSeconds(120))).isTrue();
        return client;
    }

    private static boolean isFull(CompletableFuture<Lease> request) {
        return request.isCompletedExceptionally()
                && request.handle((lease, failure) ->
                                        failure instanceof CompletionException wrapped ? wrapped.getCause() : failure)
                                .join()
                        instanceof LockLimitException;
    }

    /** Returns when each of these requests has a node or was refused. */
    private static List<CompletableFuture<Lease>> queue(EmbeddedZooKeeper server, InterProcessLock lock, int requests) {
        List<CompletableFuture<Lease>> all =
                Stream.generate(lock::acquireAsync).limit(requests).toList();
        await().atMost(Duration.ofSeconds(90)).until(() -> {
            long refused = all.stream().filter(ManyNodesIT::isFull).count();
            return server.nodeExists(LONG_PATH) && server.children(LONG_PATH).size() + refused == requests;
        });
        return all;
    }

    /** The server has deleted nodes; the client knows it once it has the answer to a later request. */
    private static void awaitEarlierAnswers(ZooKeeperClient client) throws Exception {
        new InterProcessMutex(client, "/later")
                .acquireAsync()
                .get(120, TimeUnit.SECONDS)
                .close();
    }

    @Test
    void server_restartsAfterTheEndOfAFullSession() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                ZooKeeperClient client = connect(server)) {
            queue(server, new InterProcessMutex(client, LONG_PATH), REQUESTS);
            int queued = server.children(LONG_PATH).size();
            assertThat(queued).isBetween(1000, REQUESTS - 1000);
            assertThat(server.expireSession(client.zooKeeper().orElseThrow().getSessionId()))
                    .isTrue();
            client.close();
            server.restart();
            try (ZooKeeperClient next = connect(server)) {
                new InterProcessMutex(next, LONG_PATH)
                        .acquireAsync()
                        .get(120, TimeUnit.SECONDS)
                        .close();
            }
        }
    }

    @Test
    void returnedRoom_servesOthers() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                ZooKeeperClient client = connect(server)) {
            InterProcessLock lock = new InterProcessMutex(client, LONG_PATH);
            List<CompletableFuture<Lease>> all = queue(server, lock, 4000);
            assertThat(all).anyMatch(ManyNodesIT::isFull);
            all.forEach(future -> future.cancel(false));
            await().atMost(Duration.ofSeconds(120))
                    .until(() -> server.children(LONG_PATH).size() <= 1);
            awaitEarlierAnswers(client);
            List<CompletableFuture<Lease>> again =
                    Stream.generate(lock::acquireAsync).limit(2500).toList();
            await().atMost(Duration.ofSeconds(120))
                    .until(() -> server.children(LONG_PATH).size() >= 2500);
            assertThat(again).noneMatch(ManyNodesIT::isFull);
        }
    }

    @Test
    void closedClientWithManyNodes_deletesThemBeforeItsSessionEnds() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            ZooKeeperClient client = connect(server);
            queue(server, new InterProcessMutex(client, LONG_PATH), REQUESTS);
            int queued = server.children(LONG_PATH).size();
            long before = server.requests().of(RequestType.DELETE);
            client.close();
            assertThat(server.requests().of(RequestType.DELETE) - before).isEqualTo(queued);
            assertThat(server.children(LONG_PATH)).isEmpty();
        }
    }
}
