// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The request budget, counted at the server. Sessions are long, so that no wait reaches T/6. */
class MultiLockBudgetIT extends ServerStage {
    private static List<String> paths(String name, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> "/budget/" + name + "/" + i)
                .toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 16})
    void acquireAndRelease_areTwoRequests_fromTheThirdUseOn(int members) throws Exception {
        ZooKeeperClient client = client();
        InterProcessMultiLock lock = new InterProcessMultiLock(client, paths("n" + members, members));
        lock.acquire().close(); // makes the paths
        lock.acquire().close(); // watches them, and lists
        for (int use = 3; use < 6; use++) {
            RequestCounts start = server.requests();
            lock.acquire().close();
            assertRequests(server.requests().minus(start), RequestType.MULTI, RequestType.MULTI);
        }
    }

    @Test
    void pathsUsedOnce_areTwoRequests() throws Exception {
        ZooKeeperClient client = client();
        new InterProcessMultiLock(client, List.of("/budget/once/a", "/budget/once/b"))
                .acquire()
                .close();
        new InterProcessMultiLock(client, List.of("/budget/once/c", "/budget/once/d"))
                .acquire()
                .close();
        RequestCounts start = server.requests();
        Lease lease = new InterProcessMultiLock(client, List.of("/budget/once/e", "/budget/once/f")).acquire();
        assertThat(lease.fencingToken() >> 11).isEqualTo(server.lastZxid());
        lease.close();
        assertRequests(server.requests().minus(start), RequestType.MULTI, RequestType.MULTI);
    }

    @Test
    void oneMember_costsWhatAMutexCosts() throws Exception {
        ZooKeeperClient client = client();
        InterProcessMultiLock lock = new InterProcessMultiLock(client, paths("one", 1));
        lock.acquire().close();
        lock.acquire().close();
        RequestCounts start = server.requests();
        lock.acquire().close();
        assertRequests(server.requests().minus(start), RequestType.CREATE2, RequestType.DELETE);
    }

    @Test
    void underAChroot_theBudgetAndTheTokenAreTheSame() throws Exception {
        server.createNode("/app", new byte[0]);
        ZooKeeperClient client = client(settings(server.connectString() + "/app"));
        InterProcessMultiLock lock = new InterProcessMultiLock(client, paths("chroot", 4));
        lock.acquire().close();
        lock.acquire().close();
        RequestCounts start = server.requests();
        Lease lease = lock.acquire();
        assertRequests(server.requests().minus(start), RequestType.MULTI);
        assertThat(lease.fencingToken() >> 11).isEqualTo(server.lastZxid());
        lease.close();
    }

    @Test
    void acquire_sendsTheListWithoutWaitingForTheCreate() throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeperClient client = client(proxy);
        InterProcessMultiLock lock = new InterProcessMultiLock(client, paths("pipelined", 16));
        lock.acquire().close();
        Held reply = proxy.holdReply(RequestType.MULTI, 1);
        RequestCounts start = server.requests();
        CompletableFuture<Lease> wanted = lock.acquireAsync();
        reply.awaitReached(Duration.ofSeconds(120));
        await().until(() -> server.requests().minus(start).of(RequestType.MULTI_READ) == 1);
        assertThat(wanted).isNotDone();
        reply.release();
        wanted.get(120, TimeUnit.SECONDS).close();
    }

    @Test
    void handOver_isNoRequestAfterTheDelete_andABusyTryIsOneRead() throws Exception {
        List<String> paths = paths("handover", 3);
        ZooKeeperClient client = client();
        ZooKeeperClient other = client();
        Lease held = new InterProcessMultiLock(client, paths).acquire();
        InterProcessMultiLock next = new InterProcessMultiLock(other, paths);
        RequestCounts start = server.requests();
        assertThat(next.tryAcquire()).isEmpty();
        assertRequests(server.requests().minus(start), RequestType.MULTI_READ);
        CompletableFuture<Lease> waiting = next.acquireAsync();
        await().until(() ->
                queueWatches(paths.toArray(String[]::new)) == 6); // on each path its own node, and the one in front
        start = server.requests();
        long events = server.eventsSent();
        held.close();
        waiting.get(120, TimeUnit.SECONDS).close();
        assertRequests(server.requests().minus(start), RequestType.MULTI, RequestType.MULTI);
        assertThat(server.eventsSent() - events).isEqualTo(6); // of each node one: that in front, then its own
    }
}
