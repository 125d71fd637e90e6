// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The range lock on a server. */
class RangeLockIT extends CustomLockStage<RangeLock> {
    RangeLockIT(EmbeddedZooKeeper server, TestInfo test) {
        super(server, test, RangeLock::new);
    }

    @Test
    void overlappingRanges_areNotHeldTogether_othersAre() throws Exception {
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
    void request_doesNotPassAWaitingOverlap() throws Exception {
        Lease first = mine.lock(0, 10).acquire();
        CompletableFuture<Lease> second = yours.lock(5, 15).acquireAsync();
        awaitQueue(2, 1);
        CompletableFuture<Lease> third = mine.lock(12, 20).acquireAsync();
        awaitQueue(3, 2);
        Lease aside = granted(mine.lock(20, 30));

        first.close();
        Lease secondLease = second.get(120, TimeUnit.SECONDS);
        assertThat(third).isNotDone();
        secondLease.close();
        third.get(120, TimeUnit.SECONDS).close();
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
        Lease granted = wanted.get(120, TimeUnit.SECONDS);
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
        assertRefusedBeforeAnythingIsSent(() -> mine.lock(from, to), "[" + from + ", " + to + ") is empty");
    }

    @ParameterizedTest
    @ValueSource(strings = {"lock-0000000001", "group.red-0000000001", "range.0.10-0000000001"})
    void nodeOfAnotherRecipe_failsTheAcquire_byName(String name) throws Exception {
        assertForeign(name, mine.lock(0, 10));
    }

    @Test
    void participants_areTheSame_forEveryRange() throws Exception {
        assertParticipants(
                mine.lock(-1, 10),
                yours.lock(9, 20),
                mine.lock(100, 200),
                "ffffffffffffffff.000000000000000a",
                "0000000000000009.0000000000000014");
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
