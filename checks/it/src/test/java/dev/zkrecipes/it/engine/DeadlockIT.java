// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import dev.zkrecipes.core.Deadlock;
import dev.zkrecipes.core.DeadlockPolicy;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockDeadlockException;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Workers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Threads hold a lock and ask for another one, in a circle. */
class DeadlockIT extends ServerStage {
    private final ConcurrentLinkedQueue<Deadlock> told = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Throwable> failed = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<String> granted = new ConcurrentLinkedQueue<>();

    private ZooKeeperClient looking(String label) throws InterruptedException {
        LockObserver observer = request -> new LockObserver.Progress() {
            @Override
            public void onDeadlock(Deadlock deadlock) {
                told.add(deadlock);
            }
        };
        return client(
                settings().slowAfter(Duration.ofSeconds(1)).ownerLabel(label).observer(observer));
    }

    /** So many clients, or one for all of them. */
    private List<ZooKeeperClient> clients(int count, boolean isOne) throws InterruptedException {
        List<ZooKeeperClient> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            clients.add(isOne && i > 0 ? clients.get(0) : looking("client " + i));
        }
        return clients;
    }

    /** A thread of each client takes a mutex of its own, and once all have theirs asks for the next one's. */
    private List<Thread> startInACircle(Workers workers, List<ZooKeeperClient> clients, DeadlockPolicy policy) {
        LockOptions options = LockOptions.defaults().withDeadlockPolicy(policy);
        CyclicBarrier allHold = new CyclicBarrier(clients.size());
        return IntStream.range(0, clients.size())
                .mapToObj(i -> workers.start("member " + i, () -> {
                    ZooKeeperClient client = clients.get(i);
                    InterProcessMutex next =
                            new InterProcessMutex(client, path + "/" + (i + 1) % clients.size(), options);
                    try (Lease own = new InterProcessMutex(client, path + "/" + i, options).acquire()) {
                        allHold.await();
                        next.acquire().close();
                        granted.add(own.path());
                    } catch (LockDeadlockException | InterruptedException e) {
                        failed.add(e);
                    }
                }))
                .toList();
    }

    @ParameterizedTest
    @CsvSource({"2, false", "3, false", "2, true"})
    @Tag("H180")
    void circle_isProven_andToldToEachMember(int size, boolean isOneClient) throws Exception {
        try (Workers workers = new Workers()) {
            List<Thread> members = startInACircle(workers, clients(size, isOneClient), DeadlockPolicy.WAIT);
            // Who looks before all of them wait looks again after more than a minute.
            await().atMost(Duration.ofMinutes(4))
                    .until(() -> told.stream()
                                    .map(deadlock -> deadlock.members().get(0).node())
                                    .distinct()
                                    .count()
                            == size);
            assertThat(told).allSatisfy(deadlock -> {
                assertThat(deadlock.isProven()).isTrue();
                assertThat(deadlock.members()).hasSize(size).allSatisfy(member -> {
                    assertThat(member.owner()).startsWith("client ");
                    assertThat(member.holds()).get(STRING).startsWith(path + "/");
                });
            });
            assertThat(granted).isEmpty();
            members.get(0).interrupt();
            workers.join(Duration.ofMinutes(1));
        }
        assertThat(failed).hasExactlyElementsOfTypes(InterruptedException.class);
        assertThat(granted).hasSize(size - 1);
    }

    @ParameterizedTest
    @CsvSource({"2, false", "3, false", "2, true"})
    @Tag("H181")
    void exactlyOneMember_givesWay(int size, boolean isOneClient) throws Exception {
        try (Workers workers = new Workers()) {
            startInACircle(workers, clients(size, isOneClient), DeadlockPolicy.FAIL);
            workers.join(Duration.ofMinutes(4));
        }
        assertThat(failed)
                .hasExactlyElementsOfTypes(LockDeadlockException.class)
                .allSatisfy(e -> assertThat(e)
                        .hasMessageContaining("waits for requests that wait for it")
                        .hasMessageContaining(path + "/0")
                        .hasMessageContaining(path + "/1"));
        assertThat(granted).hasSize(size - 1);
    }

    /** It waits for one lock, and its place in the other queue keeps the holder of that one waiting. */
    @Test
    @Tag("H181")
    void requestForSeveralLocks_givesWay_ifOneOfItsPlacesClosesTheCircle() throws Exception {
        LockOptions options = LockOptions.defaults().withDeadlockPolicy(DeadlockPolicy.FAIL);
        List<String> both = List.of(path + "/0", path + "/1");
        ZooKeeperClient one = looking("client 0");
        ZooKeeperClient other = looking("client 1");
        try (Workers workers = new Workers();
                Lease first = new InterProcessMutex(one, both.get(0), options).acquire()) {
            workers.start("together", () -> {
                try (Lease lease = new InterProcessMultiLock(other, both, options).acquire()) {
                    granted.add(lease.path());
                } catch (LockDeadlockException e) {
                    failed.add(e);
                }
            });
            await().until(() -> server.children(both.get(1)).size() == 1);
            try (Lease second = new InterProcessMutex(one, both.get(1), options).acquire()) {
                assertThat(List.of(first, second)).allMatch(Lease::isValid);
            }
            workers.join(Duration.ofMinutes(1));
        }
        assertThat(failed)
                .singleElement()
                .asString()
                .contains("waits for requests that wait for it", both.get(0), both.get(1));
        assertThat(granted).isEmpty();
    }

    @Test
    void nodeOfAThreadThatHoldsNothing_saysNothingMore() throws Exception {
        ZooKeeperClient client = looking("me");
        try (Lease held = new InterProcessMutex(client, path + "/a").acquire()) {
            assertThat(dataOf(held)).isEqualTo("zkrecipes 1\nowner=me\n");
            try (Lease inner = new InterProcessMutex(client, path + "/b").acquire()) {
                assertThat(dataOf(inner))
                        .isEqualTo(
                                "zkrecipes 1\nowner=me\nholds=" + held.guard().getPath() + "\n");
            }
        }
    }

    @Test
    void eightNodesAreNamed_andNoneByARequestForMoreLocks() throws Exception {
        ZooKeeperClient client = looking("me");
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            held.add(new InterProcessMutex(client, path + "/held/" + i).acquire());
        }
        List<String> nine =
                IntStream.range(0, 9).mapToObj(i -> path + "/together/" + i).toList();
        try (Lease all = new InterProcessMultiLock(client, nine).acquire()) {
            assertThat(MultiLease.guardsOf(all))
                    .hasSize(9)
                    .allSatisfy(guard -> assertThat(server.data(guard.getPath()).orElseThrow())
                            .asString(StandardCharsets.UTF_8)
                            .isEqualTo("zkrecipes 1\nowner=me\n"));
        }
        try (Lease last = new InterProcessMutex(client, path + "/last").acquire()) {
            assertThat(dataOf(last).lines().filter(line -> line.startsWith("holds=")))
                    .hasSize(8);
        }
        held.forEach(Lease::close);
    }

    /** The thread may get on although it waits: somebody else gives back what it holds. */
    @Test
    @Tag("H182")
    void leaseThatAnotherThreadMayClose_isNotNamed() throws Exception {
        ZooKeeperClient client = looking("me");
        try (Lease permit = new InterProcessSemaphore(client, path + "/permits", 2).acquire();
                Lease ofNobody = new InterProcessMutex(client, path + "/a")
                        .acquireAsync()
                        .get();
                Lease closedLater = new InterProcessMutex(client, path + "/b").acquire()) {
            CompletableFuture<Void> closed = closedLater.closeAfter(Duration.ofHours(1));
            try (Lease inner = new InterProcessMutex(client, path + "/c").acquire()) {
                assertThat(dataOf(inner)).isEqualTo("zkrecipes 1\nowner=me\n");
            }
            assertThat(closed).isNotDone();
            assertThat(List.of(permit, ofNobody)).allMatch(Lease::isValid);
        }
    }

    private String dataOf(Lease lease) throws Exception {
        return new String(server.data(lease.guard().getPath()).orElseThrow(), StandardCharsets.UTF_8);
    }
}
