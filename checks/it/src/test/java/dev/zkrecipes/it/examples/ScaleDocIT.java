// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.examples;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.hash.HashCode;
import com.google.common.hash.Hashing;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The Java of {@code docs/scale.md} is that of this test, which tries it with two ensembles. */
@Timeout(600)
class ScaleDocIT {
    private static final List<String> PATHS =
            IntStream.range(0, 12).mapToObj(i -> "/orders/" + i).toList();
    private static final String[] ALL = PATHS.toArray(String[]::new);

    private final EmbeddedZooKeeper first = EmbeddedZooKeeper.start();
    private final EmbeddedZooKeeper second = EmbeddedZooKeeper.start();
    private final List<String> both = List.of(first.connectString(), second.connectString());

    @AfterEach
    void close() {
        first.close();
        second.close();
    }

    /** Locks on several ensembles: each path is on one of them, the same for all processes. */
    static final class ShardedClients implements AutoCloseable {
        private final List<ZooKeeperClient> clients;
        private final int before;

        /** The same for all processes: the ensembles, a new one last, and how many there were before it. */
        ShardedClients(List<String> connectStrings, int before) {
            this.clients = connectStrings.stream().map(ZooKeeperClient::connect).toList();
            this.before = before;
        }

        /** A mutex, or several as one. */
        InterProcessLock lock(String... paths) {
            List<InterProcessMutex> mutexes =
                    Stream.of(paths).flatMap(this::mutexes).toList();
            return mutexes.size() == 1 ? mutexes.get(0) : new InterProcessMultiLock(mutexes);
        }

        /** Two on different ensembles if the path is about to move. */
        private Stream<InterProcessMutex> mutexes(String path) {
            return Stream.of(client(path, before), client(path, clients.size()))
                    .distinct()
                    .map(client -> new InterProcessMutex(client, path));
        }

        private ZooKeeperClient client(String path, int ensembles) {
            HashCode hash = Hashing.murmur3_128().hashString(path, StandardCharsets.UTF_8);
            return clients.get(Hashing.consistentHash(hash, ensembles));
        }

        @Override
        public void close() {
            clients.forEach(ZooKeeperClient::close);
        }
    }

    /** At once tells nothing of a lock while there is no connection. */
    private static ShardedClients connected(ShardedClients opened) {
        opened.clients.forEach(client -> await().atMost(Duration.ofMinutes(1))
                .until(() -> client.connectionState() == ConnectionState.CONNECTED));
        return opened;
    }

    @Test
    void paths_areSpreadOverTheEnsembles_andProcessesAgree() throws InterruptedException {
        try (ShardedClients here = connected(new ShardedClients(both, 2));
                ShardedClients there = connected(new ShardedClients(both, 2))) {
            List<Lease> leases = new ArrayList<>();
            for (String path : PATHS) {
                leases.add(here.lock(path).acquire());
                assertThat(there.lock(path).tryAcquire()).isEmpty();
            }
            List<String> ofTheFirst = first.children("/orders");
            assertThat(ofTheFirst).isNotEmpty();
            assertThat(second.children("/orders")).isNotEmpty().doesNotContainAnyElementsOf(ofTheFirst);
            leases.forEach(Lease::close);
        }
    }

    @Test
    void pathThatMoves_isLockedByOldAndNewProcesses() throws InterruptedException {
        try (ShardedClients old = connected(new ShardedClients(both.subList(0, 1), 1));
                ShardedClients growing = connected(new ShardedClients(both, 1));
                ShardedClients grown = connected(new ShardedClients(both, 2))) {
            assertThat(PATHS.stream().map(growing::lock).filter(InterProcessMultiLock.class::isInstance))
                    .hasSizeBetween(1, PATHS.size() - 1);
            for (String path : PATHS) {
                try (Lease lease = old.lock(path).acquire()) {
                    assertThat(growing.lock(path).tryAcquire()).isEmpty();
                }
                try (Lease lease = growing.lock(path).acquire()) {
                    assertThat(old.lock(path).tryAcquire()).isEmpty();
                    assertThat(grown.lock(path).tryAcquire()).isEmpty();
                    if (growing.lock(path) instanceof InterProcessMultiLock) {
                        assertThatThrownBy(() -> MultiLease.tokensOf(lease)).isInstanceOf(IllegalStateException.class);
                    }
                }
                try (Lease lease = grown.lock(path).acquire()) {
                    assertThat(growing.lock(path).tryAcquire()).isEmpty();
                }
            }
        }
    }

    @Test
    void multiLockOverBoth_isAllOrNothing_butHasATokenForEachPath_andIsNotAsynchronous() throws InterruptedException {
        try (ShardedClients here = connected(new ShardedClients(both, 2));
                ShardedClients there = connected(new ShardedClients(both, 2))) {
            try (Lease one = there.lock(PATHS.get(7)).acquire()) {
                assertThat(here.lock(ALL).tryAcquire()).isEmpty();
                there.lock(PATHS.get(0)).acquire().close(); // was not kept
            }
            try (Lease all = here.lock(ALL).acquire()) {
                assertThat(MultiLease.tokensOf(all)).containsOnlyKeys(ALL);
                assertThatThrownBy(all::fencingToken).isInstanceOf(IllegalStateException.class);
            }
            for (int use = 1; use < 4; use++) {
                here.lock(ALL).acquire().close(); // until the paths are known
            }
            long atTheFirst = first.requests().total();
            long atTheSecond = second.requests().total();
            here.lock(ALL).acquire().close();
            assertThat(first.requests().total() - atTheFirst).isBetween(2L, 3L);
            assertThat(second.requests().total() - atTheSecond).isBetween(2L, 3L);
            assertThatThrownBy(() -> here.lock(ALL).acquireAsync()).isInstanceOf(UnsupportedOperationException.class);
        }
    }
}
