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
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult.SetDataResult;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many requests of random size. Each holder makes a marker node inside its hold and deletes it before it closes the
 * lease; with each of the two it writes to a ledger of its own in the same transaction, whose answer tells the zxid. So the
 * markers that exist together are known for every moment of the server's own order of events.
 */
@Tag("soak")
@Timeout(600)
@WithZooKeeper
class SemaphoreLoadIT {
    private static final String PATH = "/load/semaphore";
    private static final String MARKERS = "/load-markers";
    private static final int LIMIT = 10;
    private static final int CLIENTS = 10;
    private static final int ACQUIRES = 200;

    /** How many permits were taken or returned at this moment. */
    private record Change(long zxid, int permits) {}

    private final Queue<Change> changes = new ConcurrentLinkedQueue<>();

    @Test
    void markersOfHolders_neverExceedTheLimit(EmbeddedZooKeeper server) throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        server.createNode(MARKERS, new byte[0]);
        try (TestClients clients = TestClients.of(server);
                Workers workers = new Workers()) {
            for (int c = 0; c < CLIENTS; c++) {
                ZooKeeperClient client = clients.open();
                String ledger = server.createNode(MARKERS + "/ledger-" + c, new byte[0], CreateMode.PERSISTENT);
                InterProcessSemaphore semaphore = new InterProcessSemaphore(client, PATH, LIMIT);
                Random random = new Random(seed + c);
                workers.start("client-" + c, () -> {
                    for (int i = 0; i < ACQUIRES; i++) {
                        int permits = 1 + random.nextInt(LIMIT);
                        try (Lease lease = semaphore.acquire(permits)) {
                            mark(client.zooKeeper().orElseThrow(), ledger, permits);
                        }
                    }
                });
            }
            workers.join(Duration.ofSeconds(150));
            assertThat(new InterProcessSemaphore(clients.open(), PATH, LIMIT).availablePermits())
                    .isEqualTo(LIMIT);
            await().until(() -> server.children(PATH).isEmpty());
        }
        assertThat(changes).hasSize(2 * CLIENTS * ACQUIRES);
        assertThat(mostTogether()).isLessThanOrEqualTo(LIMIT).isGreaterThan(LIMIT / 2);
    }

    private void mark(ZooKeeper zooKeeper, String ledger, int permits) throws InterruptedException, KeeperException {
        String marker = ledger + "-marker-" + permits;
        changes.add(new Change(
                zxid(
                        zooKeeper,
                        ledger,
                        Op.create(marker, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL)),
                permits));
        changes.add(new Change(zxid(zooKeeper, ledger, Op.delete(marker, -1)), -permits));
    }

    /** Does it, and says when. */
    private static long zxid(ZooKeeper zooKeeper, String ledger, Op operation)
            throws InterruptedException, KeeperException {
        Op entry = Op.setData(ledger, new byte[0], -1);
        return ((SetDataResult) zooKeeper.multi(List.of(operation, entry)).get(1))
                .getStat()
                .getMzxid();
    }

    private int mostTogether() {
        int now = 0;
        int most = 0;
        for (Change change :
                changes.stream().sorted(Comparator.comparingLong(Change::zxid)).toList()) {
            now += change.permits();
            most = Math.max(most, now);
        }
        assertThat(now).isZero();
        return most;
    }
}
