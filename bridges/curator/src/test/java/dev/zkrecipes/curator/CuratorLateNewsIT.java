// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.CuratorListener;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lock of Curator's behind our interface is lost with its own session, however late or early Curator tells of a loss. */
class CuratorLateNewsIT extends ServerStage {
    private final CountDownLatch unblocked = new CountDownLatch(1);
    private final List<ConnectionState> told = new CopyOnWriteArrayList<>();
    private CuratorFramework curator;

    @BeforeEach
    void open() throws InterruptedException {
        curator = opened(connected(settings(server, TestClients.LONG_SESSION).build()));
        curator.getConnectionStateListenable().addListener((same, state) -> told.add(state));
    }

    private static CuratorFrameworkFactory.Builder settings(EmbeddedZooKeeper to, Duration session) {
        return CuratorFrameworkFactory.builder()
                .connectString(to.connectString())
                .sessionTimeoutMs((int) session.toMillis())
                .connectionTimeoutMs(15_000)
                .retryPolicy(new RetryOneTime(100));
    }

    private static CuratorFramework connected(CuratorFramework framework) throws InterruptedException {
        framework.start();
        assertThat(framework.blockUntilConnected(20, TimeUnit.SECONDS)).isTrue();
        return framework;
    }

    @AfterEach
    void close() {
        unblocked.countDown();
    }

    private Lease acquire(CuratorFramework framework) throws InterruptedException {
        return CuratorLocks.ofCurator(framework, path, Curators.mutex(framework, path))
                .acquire();
    }

    /** Ends the session, and waits until the framework has the next one. */
    private void expire() {
        long session = CuratorHandle.of(curator).getSessionId();
        server.expireSession(session);
        Soon.await().until(() -> {
            long now = CuratorHandle.of(curator).getSessionId();
            return now != session && now != 0;
        });
    }

    private void awaitRelease() {
        try {
            unblocked.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void lossOfTheSessionBefore_toldLate_losesNothing() throws Exception {
        ConnectionStateListener slow = (same, state) -> awaitRelease();
        curator.getConnectionStateListenable().addListener(slow);
        expire(); // SUSPENDED keeps the listener, so LOST and RECONNECTED wait
        Lease lease = acquire(curator);
        Soon.await().until(() -> lease.state() == LeaseState.HELD);
        unblocked.countDown();
        Soon.await().until(() -> told.containsAll(List.of(ConnectionState.LOST, ConnectionState.RECONNECTED)));
        assertThat(lease.state()).isNotEqualTo(LeaseState.LOST);
        Soon.await().until(() -> lease.state() == LeaseState.HELD);

        curator.getConnectionStateListenable().removeListener(slow);
        expire();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        lease.close();
    }

    /** Curator keeps its listeners in a hash table, in which these are the first. */
    private final class SlowAtTheEnd implements CuratorListener {
        private final CompletableFuture<Thread> telling = new CompletableFuture<>();

        @Override
        public void eventReceived(CuratorFramework same, CuratorEvent event) {
            WatchedEvent watched = event.getWatchedEvent();
            if (watched != null && watched.getState() == Watcher.Event.KeeperState.Expired) {
                telling.complete(Thread.currentThread());
                awaitRelease();
            }
        }

        @Override
        public int hashCode() {
            return 0;
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }
    }

    @Test
    void endOfTheHandleBefore_toldLate_losesNothing() throws Exception {
        SlowAtTheEnd slow = new SlowAtTheEnd();
        curator.getCuratorListenable().addListener(slow);
        curator.getCuratorListenable().addListener(new SlowAtTheEnd()); // found before the first is called
        expire();
        Lease lease = acquire(curator);
        Thread eventThread = Soon.get(slow.telling);
        unblocked.countDown();
        eventThread.join(); // that event is its last
        Soon.await().until(() -> lease.state() == LeaseState.HELD);
        lease.close();
    }

    /** Of a callback that throws an error of its own, Curator concludes that its session has ended. */
    @Test
    void lossThatIsNone_losesNothing() throws Exception {
        Lease lease = acquire(curator);
        runInBackground(() -> {
            throw new KeeperException.SessionExpiredException();
        });
        Soon.await().until(() -> told.contains(ConnectionState.RECONNECTED));
        Soon.await().until(() -> lease.state() == LeaseState.HELD);
        lease.close();
    }

    @Test
    @Tag("H02")
    void lossThatIsTold_beforeTheHandleIsReplaced_isOne() throws Exception {
        ZooKeeper handle = CuratorHandle.of(curator);
        Lease lease = acquire(curator);
        CompletableFuture<Void> lost = new CompletableFuture<>();
        lease.onLost(() -> lost.complete(null));
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        runInBackground(() -> {
            begun.countDown();
            ended.await();
            return handle.exists("/", false);
        });
        assertThat(begun.await(120, TimeUnit.SECONDS)).isTrue();
        expireBehindABlockedEventThread(handle);
        ended.countDown();
        Soon.get(lost);
        assertThat(CuratorHandle.of(curator)).isSameAs(handle);
        unblocked.countDown();
        lease.close();
    }

    @Test
    @Tag("H02")
    void sessionThatEnds_behindABlockedEventThread_losesTheLease() throws Exception {
        Lease lease = acquire(curator);
        expireBehindABlockedEventThread(CuratorHandle.of(curator));
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        unblocked.countDown();
        lease.close();
    }

    private void runInBackground(Callable<?> work) throws Exception {
        curator.checkExists()
                .inBackground((same, event) -> work.call(), task -> new Thread(task).start())
                .forPath("/");
    }

    private void expireBehindABlockedEventThread(ZooKeeper handle) {
        handle.exists("/", false, (code, path, context, stat) -> awaitRelease(), null);
        server.expireSession(handle.getSessionId());
        Soon.await().until(() -> !handle.getState().isAlive());
    }

    /** Curator closes the handle before it opens another, which takes as long as the server does not answer. */
    @Test
    @Tag("H02")
    void handleThatCuratorIsClosing_losesTheLease() throws Exception {
        CountDownLatch closing = new CountDownLatch(1);
        ZookeeperFactory slow = (to, timeout, watcher, readOnly) -> new ZooKeeper(to, timeout, watcher, readOnly) {
            @Override
            public synchronized void close() throws InterruptedException {
                closing.countDown();
                awaitRelease();
                super.close();
            }
        };
        try (CuratorFramework away = connected(settings(server, TestClients.LONG_SESSION)
                .zookeeperFactory(slow)
                .build())) {
            Lease lease = acquire(away);
            Thread resetting = new Thread(() -> assertThatNoException()
                    .isThrownBy(() -> away.getZookeeperClient().reset()));
            resetting.start();
            try {
                assertThat(closing.await(120, TimeUnit.SECONDS)).isTrue();
                assertThat(lease.state()).isEqualTo(LeaseState.LOST);
            } finally {
                unblocked.countDown();
            }
            resetting.join();
            lease.close();
        }
    }

    /** Curator ends the session by itself when it has had no connection for the session time-out. */
    @Test
    @Tag("H02")
    void missingConnection_losesTheLease_whenItsSessionIsOver() throws Exception {
        try (EmbeddedZooKeeper own = EmbeddedZooKeeper.start();
                CuratorFramework away = connected(settings(own, Duration.ofSeconds(2))
                        .connectionTimeoutMs(1000) // for which the release waits
                        .build())) {
            Lease lease = acquire(away);
            CompletableFuture<Void> lost = new CompletableFuture<>();
            lease.onLost(() -> lost.complete(null));
            own.stop();
            Soon.get(lost);
            assertThat(lease.state()).isEqualTo(LeaseState.LOST);
            lease.close();
        }
    }
}
