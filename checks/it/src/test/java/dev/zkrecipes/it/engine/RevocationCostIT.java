// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The cost of a request to give back depends on the holders; the number of waiters makes no difference. */
@Tag("H90")
class RevocationCostIT extends ServerStage {
    private static final int WAITING = 60;
    private final List<Lease> held = new ArrayList<>();
    private ZooKeeperClient holding;
    private ZooKeeperClient asking;

    @BeforeEach
    void connect() throws InterruptedException {
        holding = client();
        asking = client();
    }

    private void hold(InterProcessLock lock, int times) {
        for (int i = 0; i < times; i++) {
            held.add(Soon.get(lock.acquireAsync()));
        }
    }

    /** Nodes of a client that never sends a request. */
    private void queueUp(String kind) {
        for (int i = 0; i < WAITING; i++) {
            server.createNode(path + "/" + String.format("%032x-%s%010d", i, kind, 1000 + i), new byte[0]);
        }
    }

    private void assertCost(InterProcessLock lock, RequestType list) throws InterruptedException {
        RequestCounts before = server.requests();
        List<Revocation> asked = new Revoker(asking).request(lock);
        assertThat(asked).hasSameSizeAs(held);
        await().until(() -> queueWatches(path) == held.size());
        List<RequestType> expected = new ArrayList<>(List.of(list));
        held.forEach(lease -> expected.addAll(List.of(
                RequestType.GET_DATA, // whose it is, and what to write the mark on
                RequestType.MULTI,
                RequestType.GET_DATA))); // and follows it
        RequestCounts cost = server.requests().minus(before);
        assertThat(cost.consistsOf(expected.toArray(RequestType[]::new)))
                .as("%s", cost)
                .isTrue();
        asked.forEach(Revocation::close);
    }

    @Test
    void mutex_readsTheFirst() throws Exception {
        hold(new InterProcessMutex(holding, path), 1);
        queueUp("lock-");
        assertCost(new InterProcessMutex(asking, path), RequestType.GET_CHILDREN2);
    }

    @Test
    void readWriteLock_readsTheReadersInFront() throws Exception {
        hold(new InterProcessReadWriteLock(holding, path).readLock(), 3);
        queueUp("__WRIT__");
        assertCost(new InterProcessReadWriteLock(asking, path).writeLock(), RequestType.GET_CHILDREN2);
    }

    @Test
    void semaphore_readsTheHoldersOfPermits() throws Exception {
        hold(new InterProcessSemaphore(holding, path, 3).permits(1), 3);
        queueUp("lease.1-");
        assertCost(new InterProcessSemaphore(asking, path, 3).permits(1), RequestType.MULTI_READ);
    }

    @Test
    void participants_takeOneList_andOneReadEach() throws Exception {
        hold(new InterProcessMutex(holding, path), 1);
        queueUp("lock-");
        RequestCounts before = server.requests();
        assertThat(new InterProcessMutex(asking, path).participants()).hasSize(1 + WAITING);
        RequestCounts cost = server.requests().minus(before);
        assertThat(cost.of(RequestType.GET_CHILDREN2)).as("%s", cost).isEqualTo(1);
        assertThat(cost.of(RequestType.GET_DATA)).as("%s", cost).isEqualTo(1 + WAITING);
        assertThat(cost.total()).as("%s", cost).isEqualTo(2 + WAITING);
    }
}
