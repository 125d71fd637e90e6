// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The range lock on a server. */
@Timeout(120)
@WithZooKeeper
class RangeLockIT {
    private static final byte[] NOTHING = {};

    private final EmbeddedZooKeeper server;
    private final String path;
    private Clients clients;
    private RangeLock mine;
    private RangeLock yours;

    RangeLockIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/" + test.getTestMethod().orElseThrow().getName();
    }

    @BeforeEach
    void connect() throws InterruptedException {
        clients = Clients.connect(server, 2);
        mine = new RangeLock(clients.get(0), path);
        yours = new RangeLock(clients.get(1), path);
    }

    @AfterEach
    void close() {
        clients.close();
    }

    /** A lease that belongs to no thread: a thread holds one range of a path at a time. */
    private static Lease granted(InterProcessLock range) throws Exception {
        return range.acquireAsync().get(20, TimeUnit.SECONDS);
    }

    /** Waits until that many nodes are in the queue, and that many of them are watched by somebody who waits for them. */
    private void awaitQueue(int nodes, int waitedFor) {
        await().until(() -> {
            List<String> queue = server.children(path);
            return queue.size() == nodes
                    && queue.stream()
                                    .filter(name -> isWaitedFor(path + "/" + name))
                                    .count()
                            == waitedFor;
        });
    }

    private boolean isWaitedFor(String node) {
        long owner = server.owner(node).orElse(0);
        return server.childWatchers(node).stream().anyMatch(session -> session != owner);
    }

    @Test
    void rangesThatOverlap_areNotHeldTogether_othersAre() throws Exception {
        Lease held = mine.lock(-10, 10).acquire();
        assertThat(yours.lock(9, 20).tryAcquire()).isEmpty();
        assertThat(yours.lock(-20, -9).tryAcquire()).isEmpty();
        assertThat(yours.lock(-1, 1).tryAcquire()).isEmpty();
        assertThat(yours.lock(Long.MIN_VALUE, Long.MAX_VALUE).tryAcquire()).isEmpty();
        Lease above = granted(yours.lock(10, Long.MAX_VALUE));
        Lease below = granted(yours.lock(Long.MIN_VALUE, -10));
        long token = held.fencingToken();
        held.close();
        Lease between = granted(yours.lock(-1, 1));
        assertThat(between.fencingToken()).isGreaterThan(token);
        above.close();
        below.close();
        between.close();
    }

    @Test
    void requestBehindAWaitingOneThatItOverlaps_doesNotPassIt() throws Exception {
        Lease first = mine.lock(0, 10).acquire();
        CompletableFuture<Lease> second = yours.lock(5, 15).acquireAsync();
        awaitQueue(2, 1);
        CompletableFuture<Lease> third = mine.lock(12, 20).acquireAsync();
        awaitQueue(3, 2);
        Lease aside = granted(mine.lock(20, 30));

        first.close();
        Lease secondLease = second.get(20, TimeUnit.SECONDS);
        assertThat(third).isNotDone();
        secondLease.close();
        third.get(20, TimeUnit.SECONDS).close();
        aside.close();
    }

    @Test
    void release_wakesOnlyWaitersForTheNearestOverlap() throws Exception {
        Lease far = granted(mine.lock(0, 10));
        Lease near = granted(mine.lock(10, 20));
        Lease other = granted(mine.lock(20, 30));
        CompletableFuture<Lease> wanted = yours.lock(5, 15).acquireAsync();
        awaitQueue(4, 1);

        long events = server.eventsSent();
        far.close();
        other.close();
        assertThat(server.eventsSent() - events).isZero();
        near.close();
        Lease granted = wanted.get(20, TimeUnit.SECONDS);
        assertThat(server.eventsSent() - events).isEqualTo(1);
        granted.close();
    }

    @Test
    void range_isReentrantThroughEveryLockObject_andAnotherOneIsRefused() throws Exception {
        Lease outer = mine.lock(0, 10).acquire();
        Lease inner = mine.lock(0, 10).acquire();
        assertThat(server.children(path)).hasSize(1);
        assertThatThrownBy(mine.lock(20, 30)::acquire).isInstanceOf(LockRefusedException.class);
        assertThat(yours.lock(0, 10).tryAcquire()).isEmpty();
        inner.close();
        outer.close();
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "1, 0", "9223372036854775807, -9223372036854775808"})
    void emptyRange_isRefusedBeforeAnythingIsSent(long from, long to) {
        long requests = server.requests().total();
        assertThatThrownBy(() -> mine.lock(from, to))
                .isExactlyInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[" + from + ", " + to + ") is empty");
        assertThat(server.requests().total()).isEqualTo(requests);
    }

    @ParameterizedTest
    @ValueSource(strings = {"lock-0000000001", "group.red-0000000001", "range.0.10-0000000001"})
    void nodeOfAnotherRecipe_failsTheAcquireAndIsNamed(String name) {
        server.createNode(path, NOTHING);
        server.createNode(path + "/" + name, NOTHING);
        assertThatThrownBy(() -> mine.lock(0, 10).acquire())
                .isExactlyInstanceOf(IncompatibleNodeException.class)
                .hasMessageContaining(name);
        server.deleteNode(path + "/" + name);
        await().until(() -> server.children(path).isEmpty());
        server.deleteNode(path);
    }

    @Test
    void participants_areShownAsTheyStand_whicheverRangeAsks() throws Exception {
        Lease held = mine.lock(-1, 10).acquire();
        CompletableFuture<Lease> wanted = yours.lock(9, 20).acquireAsync();
        awaitQueue(2, 1);
        InterProcessLock asking = mine.lock(100, 200);
        assertThat(asking.participants())
                .extracting(Participant::payload)
                .containsExactly("ffffffffffffffff.000000000000000a", "0000000000000009.0000000000000014");
        assertThat(asking.participants()).extracting(Participant::holding).containsExactly(true, false);
        held.close();
        wanted.get(20, TimeUnit.SECONDS).close();
    }

    @Test
    void randomRanges_neverOverlapAndAreServedInTurn() throws Exception {
        clients.close();
        int cells = 16;
        AtomicLongArray inside = new AtomicLongArray(cells);
        AtomicLongArray last = new AtomicLongArray(cells);
        Load.run(server, path, (client, random) -> {
            int from = random.nextInt(cells);
            int to = from + 1 + random.nextInt(Math.min(6, cells - from));
            InterProcessLock lock = new RangeLock(client, path).lock(from - cells / 2, to - cells / 2);
            try (Lease lease = Load.acquire(lock, random).orElse(null)) {
                if (lease == null) {
                    return;
                }
                long token = lease.fencingToken(); // rises with the place in the queue
                for (int cell = from; cell < to; cell++) {
                    assertThat(inside.getAndSet(cell, token))
                            .as("cell %s", cell)
                            .isZero();
                    assertThat(last.getAndSet(cell, token)).as("cell %s", cell).isLessThan(token);
                }
                lease.verify();
                for (int cell = from; cell < to; cell++) {
                    assertThat(inside.getAndSet(cell, 0)).as("cell %s", cell).isEqualTo(token);
                }
            }
        });
    }
}
