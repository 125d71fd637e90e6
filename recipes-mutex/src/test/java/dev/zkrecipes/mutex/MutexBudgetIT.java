// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The request budget, counted at the server. Sessions are long, so that no wait reaches T/6. */
class MutexBudgetIT extends ServerStage {
    private ZooKeeperClient client;
    private InterProcessMutex mutex;

    @BeforeEach
    void makePath() throws Exception {
        client = client();
        mutex = new InterProcessMutex(client, path);
        mutex.acquire().close();
    }

    @Test
    void acquireAndRelease_areTwoRequests_fromTheThirdUseOn() throws Exception {
        assertCycle(RequestType.GET_DATA, RequestType.CREATE2, RequestType.GET_CHILDREN2, RequestType.DELETE);
        for (int use = 3; use < 10; use++) {
            assertCycle(RequestType.CREATE2, RequestType.DELETE);
        }
    }

    /** What the thread holds is in the data of its node. */
    @Test
    void acquireOfAThreadThatHoldsAnother_isNotARequestMore() throws Exception {
        try (Lease other = new InterProcessMutex(client, path + "-other").acquire()) {
            mutex.acquire().close();
            assertCycle(RequestType.CREATE2, RequestType.DELETE);
            assertThat(other.isValid()).isTrue();
        }
    }

    private void assertCycle(RequestType... expected) throws InterruptedException {
        RequestCounts start = server.requests();
        mutex.acquire().close();
        assertRequests(server.requests().minus(start), expected);
    }

    /** One round trip more, once; then the list is sent with the create, which takes none. */
    @Test
    @Tag("H154")
    void acquireAfterSomebodyElse_isOneListMore_untilNobodyElseCame() throws Exception {
        mutex.acquire().close();
        assertCycle(RequestType.CREATE2, RequestType.DELETE);
        new InterProcessMutex(client(), path).acquire().close();
        assertCycle(RequestType.CREATE2, RequestType.GET_CHILDREN2, RequestType.DELETE);
        assertCycle(RequestType.CREATE2, RequestType.GET_CHILDREN2, RequestType.DELETE);
        assertCycle(RequestType.CREATE2, RequestType.DELETE);
    }

    @Test
    void lockForEachOrder_isTwoRequests() throws Exception {
        RequestCounts start = server.requests();
        new InterProcessMutex(client, path + "/orders/1").acquire().close();
        assertThat(server.requests().minus(start).of(RequestType.CREATE_CONTAINER))
                .as("the folder, and the path in it")
                .isEqualTo(3);
        for (int order = 2; order < 10; order++) {
            start = server.requests();
            Lease lease = new InterProcessMutex(client, path + "/orders/" + order).acquire();
            assertThat(lease.fencingToken() >> 11).isEqualTo(server.lastZxid());
            lease.close();
            assertRequests(server.requests().minus(start), RequestType.MULTI, RequestType.DELETE);
        }
    }

    @Test
    void reentry_isNoRequest() throws Exception {
        Lease lease = mutex.acquire();
        RequestCounts start = server.requests();
        mutex.acquire().close();
        mutex.tryAcquire().orElseThrow().close();
        assertRequests(server.requests().minus(start));
        lease.close();
    }

    @Test
    @Tag("H55")
    void busyTryAcquire_isOneReadAndNoWrite() throws Exception {
        ZooKeeperClient other = client();
        Lease held = new InterProcessMutex(other, path).acquire();
        RequestCounts start = server.requests();
        assertThat(mutex.tryAcquire()).isEmpty();
        assertRequests(server.requests().minus(start), RequestType.GET_CHILDREN2);
        held.close();
    }

    @Test
    void freeTryAcquire_isTwoRequests_fromTheThirdUseOn() throws Exception {
        mutex.acquire().close();
        RequestCounts start = server.requests();
        Lease lease = mutex.tryAcquire().orElseThrow();
        assertRequests(server.requests().minus(start), RequestType.GET_CHILDREN2, RequestType.CREATE2);
        lease.close();
    }

    @Test
    @Tag("H38")
    @Tag("H72")
    void handOver_isOneEvent_andOneWatchByTheNextInLine() throws Exception {
        ZooKeeperClient other = client();
        InterProcessMutex next = new InterProcessMutex(other, path);
        Lease held = mutex.acquire();
        CompletableFuture<Lease> first = next.acquireAsync();
        await().until(() -> queueWatches(path) == 2); // its own node, and the holder's
        RequestCounts queued = server.requests();
        CompletableFuture<Lease> second = next.acquireAsync();
        await().until(() -> server.requests().minus(queued).total() == 2); // no watch yet: it is not next in line

        RequestCounts start = server.requests();
        long events = server.eventsSent();
        held.close();
        Lease lease = first.get(120, TimeUnit.SECONDS);
        await().until(() -> queueWatches(path) == 2); // the own nodes of both
        assertRequests(server.requests().minus(start), RequestType.DELETE, RequestType.GET_CHILDREN);
        assertThat(server.eventsSent() - events).isEqualTo(1);
        lease.close();
        second.get(120, TimeUnit.SECONDS).close();
        assertRequests(
                server.requests().minus(start),
                RequestType.DELETE,
                RequestType.GET_CHILDREN,
                RequestType.DELETE,
                RequestType.DELETE);
        assertThat(server.eventsSent() - events).isEqualTo(3);
        assertThat(queueWatches(path)).isZero();
    }

    @Test
    @Tag("H72")
    void deepQueue_isSixRequestsBehindTwo_andSevenBehindMore_noneBetweenDeleteAndGrant() throws Exception {
        try (TestClients clients = TestClients.of(server, TestClients.LONG_SESSION)) {
            Lease first = mutex.acquire();
            CompletableFuture<Lease> second = queue(clients, 4); // with the watches of its own node and of the first
            CompletableFuture<Lease> third = queue(clients, 3); // with that of the first, for which the second waits
            CompletableFuture<Lease> fourth = queue(clients, 3); // with that of the second, for which the third waits

            RequestCounts start = server.requests();
            long events = server.eventsSent();
            first.close();
            Lease lease = second.get(120, TimeUnit.SECONDS);
            awaitRequests(start, 3);
            assertRequests(
                    server.requests().minus(start),
                    RequestType.DELETE,
                    RequestType.GET_CHILDREN,
                    RequestType.GET_CHILDREN);
            assertThat(server.eventsSent() - events)
                    .as("to the second and to the third")
                    .isEqualTo(2);

            RequestCounts then = server.requests();
            events = server.eventsSent();
            lease.close();
            lease = third.get(120, TimeUnit.SECONDS);
            awaitRequests(then, 4);
            assertRequests(
                    server.requests().minus(then),
                    RequestType.DELETE,
                    RequestType.GET_CHILDREN,
                    RequestType.GET_CHILDREN,
                    RequestType.GET_CHILDREN2);
            assertThat(server.eventsSent() - events)
                    .as("to itself, to the third and to the fourth")
                    .isEqualTo(3);

            RequestCounts last = server.requests();
            lease.close();
            lease = fourth.get(120, TimeUnit.SECONDS);
            assertRequests(server.requests().minus(last), RequestType.DELETE);
            lease.close();
            assertThat(server.requests().minus(start).total()).isEqualTo(9);
            assertThat(queueWatches(path)).isZero();
        }
    }

    /** A request of a client of its own, which sends so many requests until it waits. */
    private CompletableFuture<Lease> queue(TestClients clients, long requests) throws InterruptedException {
        InterProcessMutex another = new InterProcessMutex(clients.open(), path);
        RequestCounts start = server.requests();
        CompletableFuture<Lease> wanted = another.acquireAsync();
        awaitRequests(start, requests);
        return wanted;
    }

    private void awaitRequests(RequestCounts since, long total) {
        await().until(() -> server.requests().minus(since).total() == total);
    }

    @Test
    @Tag("H70")
    void manyThreadsOnOneInstance_costAtMostFiveRequestsAHandOver() throws Exception {
        int threads = 50;
        int rounds = 4;
        RequestCounts start = server.requests();
        try (Workers workers = new Workers()) {
            for (int i = 0; i < threads; i++) {
                workers.start("contender-" + i, () -> {
                    for (int round = 0; round < rounds; round++) {
                        mutex.acquire().close();
                    }
                });
            }
            workers.join(Duration.ofSeconds(60));
        }
        RequestCounts spent = server.requests().minus(start);
        assertThat(spent.total()).as(spent.toString()).isLessThanOrEqualTo(5L * threads * rounds);
        assertThat(queueWatches(path)).isZero();
    }

    @Test
    void acquire_sendsTheListWithoutWaitingForTheCreate() throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeperClient slow = client(proxy);
        InterProcessMutex far = new InterProcessMutex(slow, path);
        Held reply = proxy.holdReply(RequestType.CREATE2, 1);
        RequestCounts start = server.requests();
        CompletableFuture<Lease> wanted = far.acquireAsync();
        reply.awaitReached(Duration.ofSeconds(120));
        await().until(() -> server.requests().minus(start).of(RequestType.GET_CHILDREN2) == 1);
        assertThat(wanted).isNotDone();
        reply.release();
        wanted.get(120, TimeUnit.SECONDS).close();
    }
}
