// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.handoff;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Remains;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.zookeeper.Op;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A mutex that passes on inside the process: what it costs, the order of service, and what happens to requests for it. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class HandoffMutexIT {
    private static final int MOST = 64;

    private final EmbeddedZooKeeper server;
    private final String path = "/handoff-" + UUID.randomUUID();
    private TestClients clients;
    private ZooKeeperClient client;
    private InterProcessLock mutex;

    HandoffMutexIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    @BeforeEach
    void open() throws InterruptedException {
        clients = TestClients.of(server, TestClients.LONG_SESSION);
        client = clients.open();
        mutex = passingOn(MOST);
        mutex.acquire().close();
    }

    @AfterEach
    void close() {
        clients.close();
    }

    private InterProcessLock passingOn(int most) {
        return new HandoffMutex(client, path, most);
    }

    private List<CompletableFuture<Lease>> ask(InterProcessLock lock, int count) {
        return new ArrayList<>(Stream.generate(lock::acquireAsync).limit(count).toList());
    }

    private String node(Lease lease) {
        return lease.guard().getPath();
    }

    private void assertNothingLeft() {
        await().untilAsserted(() -> {
            assertThat(server.children(path)).isEmpty();
            assertThat(server.watchCount()).isZero();
            assertThat(Remains.of(client)).isEmpty();
        });
    }

    // ---- What it costs.

    @Test
    void uncontendedMutex_costsNoMoreWithHandoffs() throws Exception {
        RequestCounts start = server.requests();
        mutex.acquire().close();
        assertThat(server.requests()
                        .minus(start)
                        .consistsOf(RequestType.CREATE2, RequestType.GET_CHILDREN2, RequestType.DELETE))
                .isTrue();
    }

    @Test
    void localWaiters_costFiveRequestsPerNode_inAnyNumber() throws Exception {
        int nodes = 4;
        RequestCounts start = server.requests();
        List<CompletableFuture<Lease>> asked = ask(mutex, nodes * (MOST + 1));
        for (int i = 0; i < asked.size(); i++) {
            Lease lease = Soon.get(asked.get(i));
            if ((i + 1) % (MOST + 1) == 0 && i + 1 < asked.size()) {
                awaitNextInLine(); // it would list once more if the node were gone before it is watched
            }
            Soon.get(lease.closeAsync());
        }
        assertNothingLeft();
        RequestCounts spent = server.requests().minus(start);
        // Each is watched for requests to give back, and for its deletion by the one behind it or by itself.
        RequestType[] expected = Stream.of(
                        RequestType.CREATE2,
                        RequestType.GET_CHILDREN2,
                        RequestType.GET_DATA,
                        RequestType.GET_CHILDREN,
                        RequestType.DELETE)
                .flatMap(type -> Stream.generate(() -> type).limit(nodes))
                .toArray(RequestType[]::new);
        assertThat(spent.consistsOf(expected)).as(spent.toString()).isTrue();
    }

    /** Until the node behind the held one watches it and itself. */
    private void awaitNextInLine() {
        await().until(() -> server.children(path).size() == 2 && server.watchCount() == 3);
    }

    @Test
    void threads_payPerNode_excludeEachOther_andHaveRisingTokens() throws Exception {
        int threads = 16;
        int rounds = 100;
        ConcurrentLinkedQueue<Long> tokens = new ConcurrentLinkedQueue<>();
        AtomicInteger inside = new AtomicInteger();
        RequestCounts start = server.requests();
        try (Standstill standstill = new Standstill(TestClients.LONG_SESSION);
                Workers workers = new Workers()) {
            for (int thread = 0; thread < threads; thread++) {
                workers.start("thread-" + thread, () -> {
                    for (int i = 0; i < rounds; i++) {
                        try (Lease lease = mutex.acquire()) {
                            assertThat(inside.incrementAndGet()).isEqualTo(1);
                            assertThat(standstill.allows(lease)).isTrue();
                            tokens.add(lease.fencingToken());
                            inside.decrementAndGet();
                        }
                    }
                });
            }
            workers.join(Duration.ofSeconds(60));
        }
        assertNothingLeft();
        assertThat(List.copyOf(tokens)).hasSize(threads * rounds).isSorted().doesNotHaveDuplicates();
        long nodes = tokens.stream().map(token -> token >>> 11).distinct().count();
        // Others may have been made and given up, when for a moment nobody waited any more.
        assertThat(server.requests().minus(start).of(RequestType.CREATE2)).isGreaterThanOrEqualTo(nodes);
        assertThat(nodes).isGreaterThanOrEqualTo(threads * rounds / (MOST + 1));
        assertThat(tokens).allMatch(token -> (token & 2047) <= MOST);
    }

    // ---- Order.

    @Test
    void node_servesItsBound_thenTheNextClientHasItsTurn() throws Exception {
        int most = 3;
        InterProcessLock here = passingOn(most);
        InterProcessMutex there = new InterProcessMutex(clients.open(), path);
        List<String> order = new CopyOnWriteArrayList<>();

        List<CompletableFuture<Lease>> all = new ArrayList<>();
        all.addAll(note("here", ask(here, 1), order));
        Soon.get(all.get(0));
        all.addAll(note("there", ask(there, 1), order));
        await().until(() -> server.children(path).size() == 2);
        all.addAll(note("here", ask(here, 9), order)); // more than the first node serves: one more, behind the other's
        await().until(() -> server.children(path).size() == 3);
        all.addAll(note("there", ask(there, 1), order));
        await().until(() -> server.children(path).size() == 4);

        for (int granted = 1; granted <= all.size(); granted++) {
            int count = granted;
            await().until(() -> order.size() == count);
            Optional<CompletableFuture<Lease>> holder = await().until( // which is noted before its future is done
                            () -> all.stream()
                                    .filter(future ->
                                            future.isDone() && future.join().state() == LeaseState.HELD)
                                    .findFirst(),
                            Optional::isPresent);
            Soon.get(holder.orElseThrow().join().closeAsync());
        }
        assertThat(order)
                .containsExactly(
                        "here", "here", "here", "here", "there", "here", "here", "here", "here", "there", "here",
                        "here");
        assertNothingLeft();
    }

    /** Records each grant before the code that waits for the future can continue. */
    private static List<CompletableFuture<Lease>> note(
            String who, List<CompletableFuture<Lease>> asked, List<String> order) {
        return asked.stream()
                .map(future -> future.thenApply(lease -> {
                    order.add(who);
                    return lease;
                }))
                .toList();
    }

    @Test
    void abandonedThreads_leaveNothing_andTheOthersGoOn() throws Exception {
        Lease held = Soon.get(mutex.acquireAsync());
        RequestCounts start = server.requests();
        try (Workers workers = new Workers()) {
            AtomicInteger empty = new AtomicInteger();
            workers.start("timed", () -> {
                if (mutex.tryAcquire(Duration.ofSeconds(1)).isEmpty()) {
                    empty.incrementAndGet();
                }
            });
            workers.join(Duration.ofSeconds(20));
            assertThat(empty).hasValue(1);
            Thread interrupted = new Thread(() -> {
                try {
                    mutex.acquire().close();
                } catch (InterruptedException e) {
                    empty.incrementAndGet();
                }
            });
            interrupted.start();
            interrupted.interrupt();
            interrupted.join(20_000);
            assertThat(empty).hasValue(2);
            CompletableFuture<Lease> cancelled = mutex.acquireAsync();
            CompletableFuture<Lease> last = mutex.acquireAsync();
            assertThat(cancelled.cancel(false)).isTrue();
            // One look at the node, since somebody waits for it; nothing else was sent.
            await().until(() -> server.requests().minus(start).total() == 1);
            Soon.get(held.closeAsync());
            Soon.get(Soon.get(last).closeAsync());
            assertThat(server.requests().minus(start).consistsOf(RequestType.GET_DATA, RequestType.DELETE))
                    .isTrue();
        }
        assertNothingLeft();
    }

    @Test
    void holder_reenters_withTheSameToken() throws Exception {
        Lease first = Soon.get(mutex.acquireAsync());
        long token = first.fencingToken();
        assertThat(token & 2047).isZero();
        try (Workers workers = new Workers()) {
            workers.start("second", () -> {
                try (Lease outer = mutex.acquire();
                        Lease inner = passingOn(MOST).acquire()) {
                    assertThat(inner.fencingToken())
                            .isEqualTo(outer.fencingToken())
                            .isEqualTo(token + 1);
                    assertThat(mutex.holdCount()).isEqualTo(2);
                    assertThat(mutex.isAcquiredInThisProcess()).isTrue();
                    assertThatThrownBy(new InterProcessMutex(client, path)::tryAcquire)
                            .isInstanceOf(LockRefusedException.class);
                }
            });
            await().until(() -> server.watchCount() == 1);
            first.close();
            workers.join(Duration.ofSeconds(20));
        }
        assertNothingLeft();
    }

    // ---- The node lives on.

    @Test
    void guardOfAnEarlierHolder_holdsForALocalSuccessor_butAClosedLeaseHasNone() throws Exception {
        Lease first = Soon.get(mutex.acquireAsync());
        CompletableFuture<Lease> next = mutex.acquireAsync();
        Op guard = first.guard();
        Soon.get(first.closeAsync());
        Lease second = Soon.get(next);
        assertThat(second.guard().getPath()).isEqualTo(guard.getPath());
        client.zooKeeper().orElseThrow().multi(List.of(guard)); // does not fail: which process, not which thread
        assertThatThrownBy(first::guard).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(first::verify).isInstanceOf(IllegalMonitorStateException.class);
        second.verify();
        second.close();
    }

    @Test
    void deletedNode_isLostOnlyByItsHolder_andWaitersQueueAgain() throws Exception {
        Lease first = Soon.get(mutex.acquireAsync());
        CompletableFuture<Lease> second = mutex.acquireAsync();
        CompletableFuture<Lease> third = mutex.acquireAsync();
        long token = first.fencingToken();
        Soon.get(first.closeAsync());
        Lease holder = Soon.get(second);
        await().until(() -> server.watchCount() == 1);
        client.zooKeeper().orElseThrow().delete(node(holder), -1);
        assertThat(Soon.get(holder.ended())).isEqualTo(LeaseState.LOST); // at once, since the node is watched
        assertThat(Soon.get(first.ended())).isEqualTo(LeaseState.RELEASED);
        Lease last = Soon.get(third);
        Soon.await().until(last::isValid);
        assertThat(last.fencingToken() >>> 11).isGreaterThan(token >>> 11);
        holder.close();
        last.close();
        assertNothingLeft();
    }

    // ---- Requests to give back.

    @Test
    void revokedLock_returnsToZooKeeper_despiteLocalWaiters() throws Exception {
        Lease holder = Soon.get(mutex.acquireAsync());
        CompletableFuture<Lease> next = mutex.acquireAsync();
        await().until(() -> server.watchCount() == 1);
        List<Revocation> asked = new Revoker(clients.open()).request(mutex);
        await().until(() -> server.children(path).size() == 2); // heard of, so the next one has a node of its own
        String node = node(holder);
        Soon.get(holder.closeAsync());
        assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.GIVEN_BACK);
        assertThat(node(Soon.get(next))).isNotEqualTo(node);
        Soon.get(next).close();
        assertNothingLeft();
    }

    @Test
    void revocation_reachesOnlyTheCurrentHolder() throws Exception {
        Lease first = Soon.get(mutex.acquireAsync());
        List<RevocationRequest> tooLate = new CopyOnWriteArrayList<>();
        first.onRevocationRequested(tooLate::add);
        CompletableFuture<Lease> next = mutex.acquireAsync();
        Soon.get(first.closeAsync());
        Lease second = Soon.get(next);
        List<RevocationRequest> heard = new CopyOnWriteArrayList<>();
        second.onRevocationRequested(request -> {
            heard.add(request);
            second.close();
        });
        assertThat(mutex.participants())
                .extracting(participant -> participant.owner())
                .containsExactly(client.ownerLabel());
        List<Revocation> asked = new Revoker(clients.open()).request(mutex);
        assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.GIVEN_BACK);
        await().until(() -> heard.size() == 1);
        assertThat(tooLate).isEmpty();
        assertNothingLeft();
    }

    // ---- Both orders on one path.

    @Test
    void clientsWithAndWithoutHandoffs_excludeEachOther() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        int rounds = 30;
        List<InterProcessLock> locks =
                new ArrayList<>(List.of(mutex, passingOn(2), new InterProcessMutex(client, path)));
        locks.add(new InterProcessMutex(clients.open(), path));
        locks.add(new HandoffMutex(clients.open(), path, 3));
        try (Workers workers = new Workers()) {
            for (InterProcessLock lock : locks) {
                IntStream.range(0, 3)
                        .forEach(thread -> workers.start("thread-" + thread, () -> {
                            for (int i = 0; i < rounds; i++) {
                                Optional<Lease> lease = i % 3 == 0 ? lock.tryAcquire() : Optional.of(lock.acquire());
                                if (lease.isPresent()) {
                                    assertThat(inside.incrementAndGet()).isEqualTo(1);
                                    inside.decrementAndGet();
                                    lease.get().close();
                                }
                            }
                        }));
            }
            workers.join(Duration.ofSeconds(60));
        }
        assertNothingLeft();
    }
}
