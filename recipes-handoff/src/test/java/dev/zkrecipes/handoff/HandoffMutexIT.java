// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.handoff;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockParts;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.Remains;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.zookeeper.Op;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A mutex that passes on inside the process: what it costs, the order of service, and what happens to requests for it. */
class HandoffMutexIT extends ServerStage {
    private static final int MOST = 64;
    private static final int TURNS = HandoffMutex.MOST_HANDOFFS + 1;
    private ZooKeeperClient client;
    private InterProcessLock mutex;

    @BeforeEach
    void open() throws InterruptedException {
        client = client();
        mutex = passingOn(MOST);
        cycles(mutex, 5); // until the path is known
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
            assertThat(queueWatches(path)).isZero();
            assertThat(Remains.of(client)).isEmpty();
        });
    }

    // ---- What it costs.

    @Test
    void uncontendedMutex_costsNoMoreWithHandoffs() throws Exception {
        RequestCounts start = server.requests();
        mutex.acquire().close();
        assertRequests(server.requests().minus(start), RequestType.CREATE2, RequestType.DELETE);
    }

    @Test
    void localWaiters_costFourRequestsPerNode_inAnyNumber() throws Exception {
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
                        RequestType.CREATE2, RequestType.GET_DATA, RequestType.GET_CHILDREN, RequestType.DELETE)
                .flatMap(type -> Stream.generate(() -> type).limit(nodes))
                .toArray(RequestType[]::new);
        assertThat(spent.consistsOf(expected)).as(spent.toString()).isTrue();
    }

    /** The watched list is the price of the keep. The create needs none: nobody else uses the path. */
    @Test
    void keptMutex_costsThreeRequestsIn2048Cycles() throws Exception {
        InterProcessLock kept = keeping();
        cycles(kept, TURNS);
        RequestCounts start = server.requests();
        cycles(kept, TURNS);
        await().untilAsserted(() -> {
            RequestCounts spent = server.requests().minus(start);
            assertThat(spent.consistsOf(RequestType.CREATE2, RequestType.GET_CHILDREN, RequestType.DELETE))
                    .as(spent.toString())
                    .isTrue();
        });
    }

    private InterProcessLock keeping() {
        return new HandoffMutex(client, path, MOST).keepFor(Duration.ofHours(1));
    }

    private static void cycles(InterProcessLock lock, int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            lock.acquire().close();
        }
    }

    /** Until the node behind the held one watches it and itself. */
    private void awaitNextInLine() {
        await().until(() -> server.children(path).size() == 2 && queueWatches(path) == 3);
    }

    // ---- The node lives on.

    /** It waits for one event and one deletion more than it would otherwise, and not for the hour. */
    @Test
    @Tag("H170")
    void keptNode_isGivenToAnotherClient_whenItComes() throws Exception {
        InterProcessLock kept = keeping();
        InterProcessLock elsewhere = new InterProcessMutex(client(), path);
        for (int i = 0; i < 10; i++) {
            cycles(kept, 3);
            Lease other = Soon.get(elsewhere.acquireAsync());
            assertThat(server.children(path)).hasSize(1);
            Soon.get(other.closeAsync());
        }
        client.close();
        await().untilAsserted(() -> assertThat(server.children(path)).isEmpty());
    }

    /** A multi-lock of several clients tries its members like this. */
    @Test
    @Tag("H328")
    void tryAsAPart_endsInTime_withoutAnAnswer() throws Exception {
        FaultProxy proxy = proxy();
        InterProcessLock part = new HandoffMutex(client(proxy), path, MOST);
        part.acquire().close();
        proxy.pauseReplies();
        assertThatThrownBy(() -> LockParts.tryAtOnce(part, Duration.ofMillis(200)))
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining("PT0.2S");
        proxy.resume();
    }

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
}
