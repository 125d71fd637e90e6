// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The lines of the table in docs/curator.md that are exact: the same steps with both libraries, counted at the server. */
class BesideCuratorIT extends ServerStage {
    private ZooKeeperClient ours;
    private CuratorFramework theirs;

    @BeforeEach
    void connect() throws Exception {
        ours = client();
        theirs = opened(curator(server.connectString()));
    }

    private static CuratorFramework curator(String connectString) throws InterruptedException {
        CuratorFramework curator = CuratorFrameworkFactory.builder()
                .connectString(connectString)
                .retryPolicy(new RetryOneTime(100))
                .ensembleTracker(false) // which sends requests of its own in the background
                .build();
        curator.start();
        assertThat(curator.blockUntilConnected(20, TimeUnit.SECONDS)).isTrue();
        return curator;
    }

    private interface Step {
        void run() throws Exception;
    }

    /** What the third run costs: the first makes the path, and the second watches it. */
    private RequestCounts cost(Step step) throws Exception {
        step.run();
        step.run();
        RequestCounts start = server.requests();
        step.run();
        return server.requests().minus(start);
    }

    private InterProcessLock theirMutex(CuratorFramework curator) {
        return new org.apache.curator.framework.recipes.locks.InterProcessMutex(curator, path);
    }

    @Test
    void uncontendedMutex_takesTwoRequests_andThreeInCurator() throws Exception {
        InterProcessMutex our = new InterProcessMutex(ours, path);
        InterProcessLock their = theirMutex(theirs);
        assertThat(cost(() -> our.acquire().close()).total()).isEqualTo(2);
        assertThat(cost(() -> {
                            their.acquire();
                            their.release();
                        })
                        .total())
                .isEqualTo(3);
    }

    @Test
    void freeMutex_takesOneRoundTrip_andTwoInCurator() throws Exception {
        try (FaultProxy proxy = proxy();
                ZooKeeperClient client = client(proxy);
                CuratorFramework curator = curator(proxy.connectString());
                Workers workers = new Workers()) {
            InterProcessMutex our = new InterProcessMutex(client, path);
            InterProcessLock their = theirMutex(curator);
            our.acquire().close();

            Held reply = proxy.holdReply(RequestType.CREATE2, 1);
            RequestCounts start = server.requests();
            workers.start("ours", () -> our.acquire().close());
            reply.awaitReached(Duration.ofSeconds(120));
            Soon.await().until(() -> lists(start) == 1);
            reply.release();
            workers.join(Duration.ofSeconds(120));

            reply = proxy.holdReply(RequestType.CREATE2, 1);
            RequestCounts theirStart = server.requests();
            workers.start("Curator's", () -> {
                their.acquire();
                their.release();
            });
            reply.awaitReached(Duration.ofSeconds(120));
            assertThat(lists(theirStart)).isZero();
            reply.release();
            workers.join(Duration.ofSeconds(120));
            assertThat(lists(theirStart)).isEqualTo(1);
        }
    }

    private long lists(RequestCounts start) {
        RequestCounts spent = server.requests().minus(start);
        return spent.of(RequestType.GET_CHILDREN) + spent.of(RequestType.GET_CHILDREN2);
    }

    @Test
    void tryOnABusyMutex_takesOneRead_andFourRequestsInCurator() throws Exception {
        try (ZooKeeperClient holder = client();
                Lease held = new InterProcessMutex(holder, path).acquire()) {
            Soon.await().until(held::isValid);
            InterProcessMutex our = new InterProcessMutex(ours, path);
            InterProcessLock their = theirMutex(theirs);
            assertThat(cost(() -> assertThat(our.tryAcquire()).isEmpty()).consistsOf(RequestType.GET_CHILDREN2))
                    .isTrue();
            RequestCounts spent =
                    cost(() -> assertThat(their.acquire(0, TimeUnit.SECONDS)).isFalse());
            assertThat(spent.total()).as(spent.toString()).isEqualTo(4);
            assertThat(spent.of(RequestType.CREATE2)).isEqualTo(1);
            assertThat(spent.of(RequestType.DELETE)).isEqualTo(1);
        }
    }

    @Test
    void fourPermits_takeTwoRequests_andSevenPerPermitInCurator() throws Exception {
        InterProcessSemaphore our = new InterProcessSemaphore(ours, path + "/ours", 4);
        InterProcessSemaphoreV2 their = new InterProcessSemaphoreV2(theirs, path + "/theirs", 4);
        assertThat(cost(() -> our.acquire(4).close()).total()).isEqualTo(2);
        RequestCounts spent = cost(() -> their.returnAll(their.acquire(4)));
        assertThat(spent.total()).as(spent.toString()).isEqualTo(28);
    }

    @Test
    void eightLocksTogether_takeTwoRequests_andThreePerLockInCurator() throws Exception {
        List<String> paths = IntStream.range(0, 8).mapToObj(i -> path + "/" + i).toList();
        InterProcessMultiLock our = new InterProcessMultiLock(ours, paths);
        InterProcessLock their = new org.apache.curator.framework.recipes.locks.InterProcessMultiLock(theirs, paths);
        assertThat(cost(() -> our.acquire().close()).total()).isEqualTo(2);
        RequestCounts spent = cost(() -> {
            their.acquire();
            their.release();
        });
        assertThat(spent.total()).as(spent.toString()).isEqualTo(24);
    }

    @Test
    @Tag("H02")
    void expiredHolder_losesTheLock_andReentersInCurator() throws Exception {
        InterProcessMutex our = new InterProcessMutex(ours, path + "/ours");
        Lease lease = our.acquire();
        InterProcessLock their =
                new org.apache.curator.framework.recipes.locks.InterProcessMutex(theirs, path + "/theirs");
        their.acquire();
        expire(ours);
        server.expireSession(CuratorHandle.of(theirs).getSessionId());
        try (ZooKeeperClient next = client();
                Lease afterOurs = new InterProcessMutex(next, path + "/ours").acquire();
                Lease afterTheirs = new InterProcessMutex(next, path + "/theirs").acquire()) {
            assertThat(List.of(afterOurs, afterTheirs)).allMatch(Lease::isValid);

            Soon.await().until(() -> lease.state() == LeaseState.LOST);
            assertThat(our.isAcquiredInThisProcess()).isFalse();
            assertThatThrownBy(our::acquire).isInstanceOf(LockLostException.class);

            Soon.await().until(() -> theirs.getZookeeperClient().isConnected());
            assertThat(their.isAcquiredInThisProcess()).isTrue();
            assertThat(their.acquire(0, TimeUnit.SECONDS)).isTrue(); // beside the next holder
        }
    }
}
