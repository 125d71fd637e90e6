// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The example of a rule that changes while the lock is in use. */
@Timeout(600)
@WithZooKeeper
class SeatsIT {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final EmbeddedZooKeeper server;

    SeatsIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    @Test
    void addedSeat_servesAWaiter_andRemovedSeatTakesNoneAway() throws Exception {
        try (TestClients clients = TestClients.of(server)) {
            Seats mine = new Seats(clients.open(), "/rooms/9", 1);
            Seats theirs = new Seats(clients.open(), "/rooms/9", 1);
            Lease first = mine.seat().acquire();
            CompletableFuture<Lease> second = theirs.seat().acquireAsync();
            await().until(() -> server.children("/rooms/9").size() == 2);
            assertThat(second).isNotDone();
            mine.change(2);
            assertThat(second).succeedsWithin(LIMIT);
            mine.change(1);
            Soon.await().until(first::isValid);
            Soon.await().until(second.join()::isValid);
            assertThat(mine.seat().tryAcquire()).isEmpty();
            first.close();
            assertThat(mine.seat().tryAcquire()).isEmpty();
            second.join().close();
            mine.seat().tryAcquire(LIMIT).orElseThrow().close();
        }
    }

    @Test
    void malformedRule_isRefused() throws Exception {
        try (TestClients clients = TestClients.of(server)) {
            ZooKeeperClient client = clients.open();
            Seats seats = new Seats(client, "/rooms/10", 1);
            seats.seat().acquire().close();
            client.zooKeeper().orElseThrow().setData("/rooms/10", "many".getBytes(StandardCharsets.UTF_8), -1);
            assertThatThrownBy(() -> seats.seat().acquire())
                    .isInstanceOf(LockRefusedException.class)
                    .hasRootCauseInstanceOf(NumberFormatException.class);
        }
    }
}
