// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.Fault;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Lateness;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.Watcher;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** P2, P6: no waiter is forgotten, whatever happens to requests, replies, events and nodes. */
@Timeout(600)
@WithZooKeeper(tickTimeMillis = 200)
class MutexQueueIT {
    private static final Duration SESSION = Duration.ofSeconds(6);

    private final EmbeddedZooKeeper server;
    private final String path;

    MutexQueueIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/queue/" + test.getTestMethod().orElseThrow().getName();
    }

    private static ZooKeeperClient client(String connectString) throws InterruptedException {
        return TestClients.connect(connectString, SESSION);
    }

    @Test
    @Tag("H21")
    void attemptEndingWithAnUnknownCreate_leavesNoNode() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient client = client(proxy.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            mutex.acquire().close();
            Fault lost = proxy.dropReply(RequestType.CREATE2, 1);
            CompletableFuture<Lease> wanted = mutex.acquireAsync();
            lost.awaitFired(Duration.ofSeconds(20));
            wanted.cancel(false);
            await().until(() -> server.children(path).isEmpty());
            mutex.acquire().close();
        }
    }

    @Test
    @Tag("H25")
    void waiterWithoutAServerForAWhile_keepsItsPlace() throws Exception {
        try (ZooKeeperClient client = TestClients.connect(server.connectString(), TestClients.LONG_SESSION)) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            Lease held = mutex.acquire();
            CompletableFuture<Lease> wanted = mutex.acquireAsync();
            await().until(() -> server.watchCount() > 0);
            List<String> before = server.children(path);

            server.stop();
            await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
            server.restart();
            await().until(() -> client.connectionState() == ConnectionState.CONNECTED);
            assertThat(wanted).isNotDone();
            assertThat(server.children(path)).containsExactlyInAnyOrderElementsOf(before);

            held.close();
            wanted.get(120, TimeUnit.SECONDS).close();
        }
    }

    @Test
    @Tag("H26")
    void waiterWithADeletedNode_queuesAgain() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            Lease held = mutex.acquire();
            String holder = server.children(path).get(0);
            CompletableFuture<Lease> wanted = mutex.acquireAsync();
            String waiter = otherThan(holder);

            try (Lateness lateness = Lateness.measure()) {
                long start = System.nanoTime();
                server.deleteNode(path + "/" + waiter);
                await().until(() -> server.children(path).size() == 2);
                assertThat(Duration.ofNanos(System.nanoTime() - start))
                        .isLessThan(SESSION.dividedBy(3).plusMillis(500).plus(lateness.soFar()));
            }
            assertThat(otherThan(holder)).isNotEqualTo(waiter);
            held.close();
            wanted.get(120, TimeUnit.SECONDS).close();
        }
    }

    @Test
    @Tag("H26")
    void waiterWithADeletedNode_failsByPolicy() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(
                    client, path, LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL));
            Lease held = mutex.acquire();
            String holder = server.children(path).get(0);
            CompletableFuture<Lease> wanted = mutex.acquireAsync();
            server.deleteNode(path + "/" + otherThan(holder));
            assertThatThrownBy(() -> wanted.get(120, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(QueuePlaceLostException.class)
                    .hasMessageContaining(path);
            held.close();
        }
    }

    private String otherThan(String holder) {
        return await().until(
                        () -> server.children(path).stream()
                                .filter(child -> !child.equals(holder))
                                .findFirst(),
                        Optional::isPresent)
                .orElseThrow();
    }

    @Test
    @Tag("H27")
    void predecessorDeletedBetweenListAndWatch_isNoticed() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient waiting = client(proxy.connectString());
                ZooKeeperClient holding = client(server.connectString())) {
            Lease held = new InterProcessMutex(holding, path).acquire();
            Held watch = proxy.holdRequest(RequestType.GET_CHILDREN, 2); // the first one is for its own node
            CompletableFuture<Lease> wanted = new InterProcessMutex(waiting, path).acquireAsync();
            watch.awaitReached(Duration.ofSeconds(20));
            held.close();
            watch.release();
            wanted.get(120, TimeUnit.SECONDS).close();
        }
    }

    @Test
    @Tag("H38")
    void predecessorWithChangedData_isStillWatched_andWakesNoWaiter() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            Lease held = mutex.acquire();
            String holder = path + "/" + server.children(path).get(0);
            CompletableFuture<Lease> wanted = mutex.acquireAsync();
            await().until(() -> !server.childWatchers(holder).isEmpty());
            long events = server.eventsSent();
            for (int change = 0; change < 3; change++) {
                server.setData(holder, new byte[] {1});
            }
            assertThat(server.eventsSent()).isEqualTo(events);
            assertThat(server.childWatchers(holder)).hasSize(1);
            held.close();
            wanted.get(120, TimeUnit.SECONDS).close();
        }
    }

    @Test
    @Tag("H38")
    void predecessorWithNodesBelowIt_isStillWatched() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            String holder =
                    path + "/ffffffffffffffffffffffffffffffff-lock-0000000000"; // made by hand: it may have some
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            mutex.acquire().close(); // makes the path
            server.createNode(holder, new byte[0]);
            CompletableFuture<Lease> wanted = mutex.acquireAsync();
            for (int change = 0; change < 3; change++) {
                String below = holder + "/" + change;
                spendAndAwaitAnother(holder, () -> server.createNode(below, new byte[0]));
                spendAndAwaitAnother(holder, () -> server.deleteNode(below));
            }
            assertThat(wanted).isNotDone();
            server.deleteNode(holder);
            wanted.get(120, TimeUnit.SECONDS).close();
        }
    }

    private void spendAndAwaitAnother(String node, ThrowingRunnable spend) throws Exception {
        await().until(() -> !server.childWatchers(node).isEmpty());
        long reads = server.requests().of(RequestType.GET_CHILDREN);
        spend.run();
        await().until(() -> server.requests().of(RequestType.GET_CHILDREN) > reads);
        await().until(() -> !server.childWatchers(node).isEmpty());
    }

    @FunctionalInterface
    private interface ThrowingRunnable {
        void run() throws Exception;
    }

    @Test
    @Tag("H29")
    void watchRemovedByTheHandlesOwner_isSetAgain() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            Lease held = mutex.acquire();
            String holder = server.children(path).get(0);
            CompletableFuture<Lease> wanted = mutex.acquireAsync();
            for (String watched : List.of(otherThan(holder), holder)) {
                String node = path + "/" + watched;
                spendAndAwaitAnother(
                        node,
                        () -> client.zooKeeper().orElseThrow().removeAllWatches(node, Watcher.WatcherType.Any, false));
            }
            held.close();
            wanted.get(120, TimeUnit.SECONDS).close();
        }
    }

    @Test
    @Tag("H28")
    void sleepingListener_delaysNoGrant() throws Exception {
        CountDownLatch wakeUp = new CountDownLatch(1);
        CountDownLatch asleep = new CountDownLatch(2);
        try (ZooKeeperClient client = client(server.connectString());
                Workers workers = new Workers()) {
            client.addConnectionListener(state -> sleep(asleep, wakeUp));
            Lease lost = new InterProcessMutex(client, path + "/lost").acquire();
            lost.onLost(() -> sleep(asleep, wakeUp));
            server.expireSession(client.zooKeeper().orElseThrow().getSessionId());
            asleep.await();

            InterProcessMutex mutex = new InterProcessMutex(client, path);
            Lease held = mutex.acquire();
            CompletableFuture<Lease> async = mutex.acquireAsync();
            workers.start("blocking", () -> mutex.acquire().close());
            held.close();
            async.get(120, TimeUnit.SECONDS).close();
            workers.join(Duration.ofSeconds(20));
        } finally {
            wakeUp.countDown();
        }
    }

    private static void sleep(CountDownLatch asleep, CountDownLatch wakeUp) {
        asleep.countDown();
        try {
            wakeUp.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    @Tag("H29")
    void leavingWaiter_keepsTheOthersWatch() throws Exception {
        try (ZooKeeperClient client = client(server.connectString());
                ZooKeeperClient holding = client(server.connectString())) {
            // Two local attempts that wait for one and the same node, as readers behind a writer do.
            InterProcessLock shared =
                    new LockInternals(client, path, new BehindTheFirst(), LockOptions.defaults()).threadOwned();
            Lease held = new InterProcessMutex(holding, path).acquire();
            String holder = path + "/" + server.children(path).get(0);
            CompletableFuture<Lease> leaving = shared.acquireAsync();
            CompletableFuture<Lease> staying = shared.acquireAsync();
            await().until(() -> server.children(path).size() == 3 && server.watchCount() == 3); // each its own too
            assertThat(server.childWatchers(holder)).hasSize(1);

            leaving.cancel(false);
            await().until(() -> server.children(path).size() == 2);
            assertThat(server.childWatchers(holder)).hasSize(1);
            held.close();
            staying.get(120, TimeUnit.SECONDS).close();
        }
    }

    /** All behind the first wait for the first. */
    private static final class BehindTheFirst implements LockDriver {
        private final MutexDriver mutex = new MutexDriver();

        @Override
        public String nodeName() {
            return mutex.nodeName();
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return mutex.parse(childName);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return predecessors.isEmpty() ? Decision.granted() : Decision.waitFor(predecessors.get(0));
        }
    }

    @Test
    void requests_areGrantedInOrder() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            Lease held = mutex.acquire();
            AtomicInteger served = new AtomicInteger();
            CompletableFuture<?>[] all = new CompletableFuture<?>[50];
            for (int i = 0; i < all.length; i++) {
                int turn = i;
                all[i] = mutex.acquireAsync().thenCompose(lease -> {
                    assertThat(served.getAndIncrement()).isEqualTo(turn);
                    return lease.closeAsync();
                });
            }
            held.close();
            CompletableFuture.allOf(all).get(120, TimeUnit.SECONDS);
        }
    }
}
