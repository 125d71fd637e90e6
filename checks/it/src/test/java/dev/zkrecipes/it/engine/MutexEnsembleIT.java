// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EnsembleServer;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.ZooKeeperEnsemble;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** What a mutex may and may not believe of a follower that has lost its leader and still answers from the past. */
@Tag("soak")
@Timeout(600)
class MutexEnsembleIT {
    private static final Duration SESSION = Duration.ofSeconds(8);
    private static final Duration LONG_SESSION = Duration.ofSeconds(30);

    private static ZooKeeperEnsemble ensemble;

    private EnsembleServer leader;
    private EnsembleServer follower;
    private String path;

    @BeforeAll
    static void start() {
        ensemble = ZooKeeperEnsemble.start();
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    @BeforeEach
    void choose(TestInfo test) {
        leader = ensemble.leader();
        follower = ensemble.followers().get(0);
        path = "/lagging/" + test.getTestMethod().orElseThrow().getName();
    }

    @AfterEach
    void heal() {
        ensemble.heal();
        ensemble.awaitComplete();
    }

    private static ZooKeeperClient client(String connectString, Duration session) throws InterruptedException {
        return TestClients.connect(connectString, session);
    }

    /** One whose tries are not over before the follower is with its leader again. */
    private static ZooKeeperClient patient(String connectString) throws InterruptedException {
        return TestClients.connect(ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(LONG_SESSION)
                .requestTimeout(Duration.ofSeconds(40)));
    }

    private static ZooKeeper bystander(EnsembleServer server) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper zooKeeper = new ZooKeeper(server.connectString(), (int) LONG_SESSION.toMillis(), event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        assertThat(connected.await(120, TimeUnit.SECONDS)).isTrue();
        return zooKeeper;
    }

    @Test
    @Tag("H07")
    void holderBehindACutFollower_saysInvalidBeforeARivalIsGranted() throws Exception {
        try (ZooKeeperClient holding = client(follower.connectString(), SESSION);
                ZooKeeperClient waiting = client(leader.connectString(), SESSION);
                ZooKeeper behind = bystander(follower);
                ZooKeeper ahead = bystander(leader)) {
            Lease held = new InterProcessMutex(holding, path).acquire();
            String node = behind.getChildren(path, false).get(0);
            CompletableFuture<Long> goneAt = new CompletableFuture<>();
            ahead.exists(path + "/" + node, event -> {
                if (event.getType() == EventType.NodeDeleted) {
                    goneAt.complete(System.nanoTime());
                }
            });
            CompletableFuture<Lease> wanted = new InterProcessMutex(waiting, path).acquireAsync();
            CompletableFuture<Long> grantedAt = wanted.thenApply(lease -> System.nanoTime());
            await().until(() -> behind.getChildren(path, false).size() == 2);
            Soon.await().until(held::isValid);

            follower.cutFrom(leader);
            AtomicLong lastValidAt = new AtomicLong(System.nanoTime());
            List<LeaseState> states = new ArrayList<>(List.of(LeaseState.HELD));
            Callable<LeaseState> look = () -> {
                long asked = System.nanoTime();
                LeaseState state = held.state();
                if (state == LeaseState.HELD) {
                    lastValidAt.set(asked);
                }
                if (state != states.get(states.size() - 1)) {
                    states.add(state);
                }
                return state;
            };
            ConditionFactory watching = await().pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .atMost(ZooKeeperEnsemble.SYNC_LIMIT);
            watching.until(look, state -> grantedAt.isDone() && goneAt.isDone());
            assertThat(held.isValid()).isFalse();
            watching.until(look, state -> state == LeaseState.LOST);

            assertThat(behind.getChildren(path, false)).contains(node); // to that follower nothing has happened
            assertThat(ahead.getChildren(path, false)).hasSize(1).doesNotContain(node);
            assertThat(lastValidAt.get()).isLessThan(Math.min(goneAt.get(), grantedAt.get()));
            assertThat(states).containsExactly(LeaseState.HELD, LeaseState.SUSPENDED, LeaseState.LOST);
            Soon.await().until(wanted.join()::isValid);
            follower.heal();
            wanted.join().close();
            held.close();
        }
    }

    @Test
    @Tag("H57")
    void heldLock_isNeverFreeToAStaleReader() throws Exception {
        try (FaultProxy proxy = FaultProxy.to("127.0.0.1", port(follower));
                ZooKeeperClient holding = client(leader.connectString(), LONG_SESSION);
                ZooKeeperClient late = patient(proxy.connectString());
                ZooKeeper ahead = bystander(leader)) {
            InterProcessMutex mutex = new InterProcessMutex(late, path);
            mutex.acquire().close(); // the follower knows the path, and that the lock is free
            long creates = proxy.requestsSeen().of(RequestType.CREATE2);

            follower.cutFrom(leader);
            Lease held = new InterProcessMutex(holding, path).acquire();
            CompletableFuture<Optional<Lease>> tried = CompletableFuture.supplyAsync(
                    mutex::tryAcquire, task -> new Thread(task).start()); // no pool that others keep busy
            // It has seen the past; a read behind a write of the same session would wait for the leader.
            Soon.await().until(() -> proxy.requestsSeen().of(RequestType.CREATE2) == creates + 1);
            CompletableFuture<Lease> wanted = new InterProcessMutex(late, path).acquireAsync();
            Soon.await().until(() -> proxy.requestsSeen().of(RequestType.CREATE2) == creates + 2);
            assertThat(tried).isNotDone();
            assertThat(wanted).isNotDone();

            follower.heal();
            assertThat(Soon.get(tried)).isEmpty();
            Soon.await().until(() -> ahead.getChildren(path, false).size() == 2);
            assertThat(wanted).isNotDone();
            held.verify();
            held.close();
            Soon.get(wanted).close();
        }
    }

    @Test
    @Tag("H57")
    void justReleasedLock_mayLookBusyToAStaleReader_whichWritesNothing() throws Exception {
        try (FaultProxy proxy = FaultProxy.to("127.0.0.1", port(follower));
                ZooKeeperClient holding = client(leader.connectString(), LONG_SESSION);
                ZooKeeperClient late = patient(proxy.connectString());
                ZooKeeper behind = bystander(follower);
                ZooKeeper ahead = bystander(leader)) {
            InterProcessMutex mutex = new InterProcessMutex(late, path);
            Lease held = new InterProcessMutex(holding, path).acquire();
            Soon.await()
                    .until(() -> behind.exists(path, false) != null
                            && behind.getChildren(path, false).size() == 1);
            long creates = proxy.requestsSeen().of(RequestType.CREATE2);

            follower.cutFrom(leader);
            held.closeAsync().get(120, TimeUnit.SECONDS);
            assertThat(ahead.getChildren(path, false)).isEmpty();
            assertThat(mutex.tryAcquire()).isEmpty();
            assertThat(proxy.requestsSeen().of(RequestType.CREATE2)).isEqualTo(creates);

            follower.heal();
            Soon.await().until(() -> behind.getChildren(path, false).isEmpty());
            assertThat(mutex.tryAcquire()).hasValueSatisfying(Lease::close);
        }
    }

    private static int port(EnsembleServer server) {
        return Integer.parseInt(server.connectString().substring("127.0.0.1:".length()));
    }

    @Test
    @Tag("H149")
    void writeOfTheFormerHolder_isReadThroughTheSessionOfTheLock_andThroughAnotherOneAfterAWrite() throws Exception {
        try (ZooKeeperClient former = client(leader.connectString(), LONG_SESSION);
                ZooKeeperClient next = client(ensemble.followers().get(1).connectString(), LONG_SESSION);
                ZooKeeper other = bystander(follower)) {
            String counter = other.create("/counter", new byte[] {0}, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            String own = other.create("/own", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            follower.cutFrom(leader);
            try (Lease lease = new InterProcessMutex(former, path).acquire()) {
                former.zooKeeper().orElseThrow().setData(counter, new byte[] {1}, 0);
            }
            try (Lease lease = new InterProcessMutex(next, path).acquire()) {
                assertThat(next.zooKeeper().orElseThrow().getData(counter, false, null))
                        .containsExactly(1);
                assertThat(other.getData(counter, false, null)).containsExactly(0);
                CompletableFuture<byte[]> read = new CompletableFuture<>();
                other.setData(own, new byte[0], -1, (rc, node, context, stat) -> {}, null);
                other.getData(counter, false, (rc, node, context, data, stat) -> read.complete(data), null);
                ensemble.heal();
                assertThat(read).succeedsWithin(Duration.ofSeconds(120)).isEqualTo(new byte[] {1});
            }
        }
    }
}
