// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A client that waits at many semaphores, one after the other, does not burden the server for the life of its session. */
@WithZooKeeper
@Tag("H123")
class SemaphoreWatchesIT {
    private static final int PATHS = 1_200;
    private static final int MOST_IDLE = 1_000;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @Test
    void watchesOfSemaphoresThatWereContendedOnce_areBounded(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient holder = TestClients.connect(server.connectString(), TestClients.LONG_SESSION);
                ZooKeeperClient waiter = TestClients.connect(server.connectString(), TestClients.LONG_SESSION)) {
            List<Lease> held = together(holder, 0, PATHS).stream()
                    .map(CompletableFuture::join)
                    .toList();
            List<CompletableFuture<Lease>> waiting = together(waiter, 0, PATHS);
            await().atMost(PATIENCE).until(() -> server.watchCount() >= 2 * PATHS); // of the rule, of the holder's node
            closeAll(held);
            closeAll(waiting.stream().map(CompletableFuture::join).toList());
            await().atMost(PATIENCE).until(() -> server.watchCount() <= MOST_IDLE);

            // Both whose watch was left and whose watch was removed hear of a new limit.
            for (int path : List.of(0, PATHS - 1)) {
                InterProcessSemaphore semaphore = semaphore(holder, path);
                Lease lease = semaphore.acquire();
                CompletableFuture<Lease> next = together(waiter, path, 1).get(0);
                await().atMost(PATIENCE).until(() -> semaphore.queueLength() == 1);
                semaphore.resize(2);
                next.join().close();
                lease.close();
            }
            assertThat(server.watchCount()).isLessThanOrEqualTo(MOST_IDLE + 2);
            await().atMost(PATIENCE).until(() -> server.watchCount() <= MOST_IDLE);
        }
    }

    private static InterProcessSemaphore semaphore(ZooKeeperClient client, int path) {
        return new InterProcessSemaphore(client, "/semaphores/" + path, 1);
    }

    private static List<CompletableFuture<Lease>> together(ZooKeeperClient client, int from, int count) {
        return IntStream.range(from, from + count)
                .mapToObj(path -> semaphore(client, path).acquireAsync())
                .toList();
    }

    private static void closeAll(List<Lease> leases) {
        for (Lease lease : leases) {
            var unused = lease.closeAsync();
        }
    }
}
