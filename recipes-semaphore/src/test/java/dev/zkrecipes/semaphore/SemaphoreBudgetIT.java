// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The request budget, counted at the server. Sessions are long, so that no wait reaches T/6. */
class SemaphoreBudgetIT extends ServerStage {
    private static final int LIMIT = 7;
    private InterProcessSemaphore semaphore;

    @BeforeEach
    void makePath() throws Exception {
        semaphore = another();
        semaphore.acquire().close();
    }

    private InterProcessSemaphore another() throws InterruptedException {
        return new InterProcessSemaphore(client(), path, LIMIT);
    }

    @Test
    void acquireAndClose_areTwoRequests_forOnePermitOrAll_fromTheThirdUseOn() throws Exception {
        semaphore.acquire().close();
        for (int permits : new int[] {1, 3, LIMIT}) {
            RequestCounts start = server.requests();
            semaphore.acquire(permits).close();
            assertRequests(server.requests().minus(start), RequestType.CREATE2, RequestType.DELETE);
        }
    }

    @Test
    void tryAcquire_isOneReadIfBusyAndFourRequestsIfFree() throws Exception {
        Lease held = another().acquire(LIMIT);
        RequestCounts start = server.requests();
        assertThat(semaphore.tryAcquire()).isEmpty();
        assertRequests(server.requests().minus(start), RequestType.MULTI_READ);
        held.close();
        start = server.requests();
        Lease lease = semaphore.tryAcquire().orElseThrow();
        assertRequests(
                server.requests().minus(start),
                RequestType.MULTI_READ,
                RequestType.GET_DATA, // a watch, as the path is used again
                RequestType.CREATE2,
                RequestType.MULTI_READ);
        lease.close();
    }

    @Test
    void lookingAtTheSemaphore_isOneRequest() throws Exception {
        Lease held = another().acquire(3);
        RequestCounts start = server.requests();
        assertThat(semaphore.availablePermits()).isEqualTo(4);
        assertThat(semaphore.queueLength()).isZero();
        assertThat(semaphore.maxLeases()).isEqualTo(LIMIT);
        assertRequests(
                server.requests().minus(start), RequestType.MULTI_READ, RequestType.MULTI_READ, RequestType.MULTI_READ);
        held.close();
    }

    @Test
    @Tag("H72")
    void handOver_isOneEvent_andNoWatchIsRemoved() throws Exception {
        Lease held = semaphore.acquire(LIMIT);
        InterProcessSemaphore other = another();
        CompletableFuture<Lease> first = other.acquireAsync(4);
        await().until(() -> queueWatches(path) == 2); // its own node, and the holder's
        RequestCounts queued = server.requests();
        CompletableFuture<Lease> second = other.acquireAsync(4);
        await().until(() -> server.requests().minus(queued).total() == 2); // no watch yet: it is not next in line
        RequestCounts start = server.requests();
        long events = server.eventsSent();
        held.close();
        Lease lease = first.get(120, TimeUnit.SECONDS);
        await().until(() -> queueWatches(path) == 2); // the own nodes of both
        assertRequests(server.requests().minus(start), RequestType.DELETE, RequestType.GET_CHILDREN);
        lease.close();
        Lease last = second.get(120, TimeUnit.SECONDS);
        assertRequests(
                server.requests().minus(start), RequestType.DELETE, RequestType.GET_CHILDREN, RequestType.DELETE);
        assertThat(server.eventsSent() - events).isEqualTo(2);
        last.close();
    }
}
