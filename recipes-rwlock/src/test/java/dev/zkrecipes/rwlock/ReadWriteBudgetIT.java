// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The request budget, counted at the server. Sessions are long, so that no wait reaches T/6. */
class ReadWriteBudgetIT extends ServerStage {
    private InterProcessReadWriteLock lock;

    @BeforeEach
    void makePath() throws Exception {
        lock = another();
        lock.readLock().acquire().close();
    }

    /** The same lock for another client. */
    private InterProcessReadWriteLock another() throws InterruptedException {
        return new InterProcessReadWriteLock(client(), path);
    }

    @Test
    void acquireAndRelease_areTwoRequests_fromTheThirdUseOn() throws Exception {
        lock.readLock().acquire().close();
        for (InterProcessLock side : List.of(lock.readLock(), lock.writeLock())) {
            RequestCounts start = server.requests();
            side.acquire().close();
            assertRequests(server.requests().minus(start), RequestType.CREATE2, RequestType.DELETE);
        }
    }

    @Test
    void tryAcquire_isOneReadIfBusyAndFourRequestsIfFree() throws Exception {
        Lease writing = another().writeLock().acquire();
        for (InterProcessLock side : List.of(lock.readLock(), lock.writeLock())) {
            RequestCounts start = server.requests();
            assertThat(side.tryAcquire()).isEmpty();
            assertRequests(server.requests().minus(start), RequestType.GET_CHILDREN2);
        }
        writing.close();
        RequestCounts start = server.requests();
        Lease reading = lock.readLock().tryAcquire().orElseThrow();
        assertRequests(
                server.requests().minus(start),
                RequestType.GET_CHILDREN2,
                RequestType.GET_DATA, // a watch, as the path is used again
                RequestType.CREATE2,
                RequestType.GET_CHILDREN2);
        reading.close();
    }

    @Test
    void downgradeIsOneRequest_reentryIsNone() throws Exception {
        Lease writing = lock.writeLock().acquire();
        RequestCounts start = server.requests();
        Lease reading = lock.readLock().acquire();
        RequestCounts downgraded = server.requests();
        assertRequests(downgraded.minus(start), RequestType.MULTI);
        lock.readLock().acquire().close();
        lock.writeLock().acquire().close();
        assertRequests(server.requests().minus(downgraded));
        writing.close();
        reading.close();
    }

    @Test
    @Tag("H72")
    void handOver_isOneEvent_andForAWriterOneListAfterTheDelete() throws Exception {
        Lease reading = lock.readLock().acquire();
        CompletableFuture<Lease> writer = another().writeLock().acquireAsync();
        await().until(() -> queueWatches(path) == 2); // its own node, and the reader in front
        CompletableFuture<Lease> reader = another().readLock().acquireAsync();
        await().until(() -> queueWatches(path) == 4);
        RequestCounts start = server.requests();
        long events = server.eventsSent();
        reading.close();
        Lease writing = writer.get(120, TimeUnit.SECONDS);
        // A node of the reading mode may have appeared in the place of a writer's, and would keep a writer waiting, so
        // it lists.
        assertRequests(server.requests().minus(start), RequestType.DELETE, RequestType.GET_CHILDREN2);
        assertThat(server.eventsSent() - events).isEqualTo(1);
        start = server.requests();
        writing.close();
        Lease next = reader.get(120, TimeUnit.SECONDS);
        assertRequests(server.requests().minus(start), RequestType.DELETE);
        assertThat(server.eventsSent() - events).isEqualTo(3); // the writer's node was watched by its own session too
        next.close();
        assertThat(queueWatches(path)).isZero();
    }

    @Test
    @Tag("H71")
    void twentyWritersAndTwentyReaders_costAtMost245Requests_andWakeNoReaderInVain() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        List<Boolean> writes = new ArrayList<>(Collections.nCopies(20, true));
        writes.addAll(Collections.nCopies(20, false));
        Collections.shuffle(writes, new Random(seed));

        List<InterProcessReadWriteLock> locks = new ArrayList<>();
        for (int i = 0; i < writes.size(); i++) {
            locks.add(another());
        }
        Lease gate = lock.writeLock().acquire();
        RequestCounts start = server.requests();
        long events = server.eventsSent();
        List<CompletableFuture<Void>> served = new ArrayList<>();
        int wakeUps = 0;
        for (int i = 0; i < writes.size(); i++) {
            int before = i;
            InterProcessReadWriteLock each = locks.get(i);
            served.add((writes.get(i) ? each.writeLock() : each.readLock())
                    .acquireAsync()
                    .thenCompose(Lease::closeAsync));
            await().pollInterval(Duration.ofMillis(2))
                    .until(() -> server.children(path).size() == before + 2);
            // A reader is woken by the nearest writer in front of it. A writer may be woken by each reader that stood
            // between it and the writer in front, because readers leave in any order.
            wakeUps += writes.get(i) ? 1 + readersJustInFront(writes, i) : 1;
        }
        // Of each who waits one in front, and of those next in line their own.
        int next = Math.max(1, writes.indexOf(true));
        await().until(() -> queueWatches(path) >= locks.size() + next);
        gate.close();
        CompletableFuture.allOf(served.toArray(CompletableFuture<?>[]::new)).get(120, TimeUnit.SECONDS);
        RequestCounts spent = server.requests().minus(start);
        System.out.println(spent);
        assertThat(spent.total()).as(spent.toString()).isLessThanOrEqualTo(245);
        assertThat(server.eventsSent() - events)
                .isBetween(40L, 40L + wakeUps); // of most nodes their own session is told, too
        assertThat(queueWatches(path)).isZero();
    }

    private static int readersJustInFront(List<Boolean> writes, int place) {
        int readers = 0;
        for (int i = place - 1; i >= 0 && !writes.get(i); i--) {
            readers++;
        }
        return readers;
    }
}
