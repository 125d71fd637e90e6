// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.framework.listen.StandardListenerManager;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.state.ConnectionStateListenerManagerFactory;
import org.apache.curator.retry.RetryForever;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Locks of Curator's behind our interface, when the framework's session is lost or the framework is closed. */
class CuratorLossesIT extends ServerStage {
    private static final Duration LONG = Duration.ofSeconds(120);
    private final Workers workers = opened(new Workers());
    private CuratorFramework curator;
    private CuratorFramework other;

    @BeforeEach
    void open() throws InterruptedException {
        curator = opened(Curators.connected(Curators.settings(server).build()));
        other = opened(Curators.connected(Curators.settings(server).build()));
    }

    private static CuratorFramework withACircuit(EmbeddedZooKeeper to) throws InterruptedException {
        return Curators.connected(Curators.settings(to)
                .connectionStateListenerManagerFactory(
                        ConnectionStateListenerManagerFactory.circuitBreaking(new RetryForever(600_000)))
                .build());
    }

    /** Curator tells its listeners one after another. */
    private static CountDownLatch blockListenersOf(CuratorFramework framework) {
        CountDownLatch end = new CountDownLatch(1);
        framework.getConnectionStateListenable().addListener((same, state) -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        return end;
    }

    private InterProcessLock mutexOf(CuratorFramework framework) {
        return CuratorLocks.ofCurator(framework, path, Curators.mutex(framework, path));
    }

    /**
     * Ends the session of a framework, and waits until it has the next one. Curator may say LOST after RECONNECTED, which
     * it corrects only when its listeners have returned.
     */
    private void expire(CuratorFramework framework) {
        long session = CuratorHandle.of(framework).getSessionId();
        server.expireSession(session);
        Soon.await().until(() -> hasNewSession(framework, session));
    }

    private static boolean hasNewSession(CuratorFramework framework, long before) {
        long session = CuratorHandle.of(framework).getSessionId();
        return session != before && session != 0;
    }

    @Test
    @Tag("H01")
    void closingALostPermit_leavesThatOfAnotherThread() throws Exception {
        InterProcessLock permit = CuratorLocks.ofCurator(curator, path, new InterProcessSemaphoreV2(curator, path, 1));
        Lease lost = permit.acquire();
        expire(curator);
        Soon.await().until(() -> lost.state() == LeaseState.LOST);
        CountDownLatch closed = new CountDownLatch(1);
        CompletableFuture<Lease> granted = new CompletableFuture<>();
        workers.start("another", () -> {
            Lease lease = permit.acquire();
            granted.complete(lease);
            assertThat(closed.await(120, TimeUnit.SECONDS)).isTrue();
            Soon.await().until(() -> lease.state() == LeaseState.HELD);
            assertThat(new InterProcessSemaphoreV2(other, path, 1).acquire(0, TimeUnit.SECONDS))
                    .isNull();
            lease.close();
        });
        Lease held = Soon.get(granted);
        lost.close();
        assertThat(server.children(path + "/leases")).hasSize(1);
        closed.countDown();
        workers.join(LONG);
        assertThat(held.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(server.children(path + "/leases")).isEmpty();
    }

    @Test
    void permits_areTaken_andGivenBackByAnyThreadForADeadOne() throws Exception {
        InterProcessLock permit = CuratorLocks.ofCurator(curator, path, new InterProcessSemaphoreV2(curator, path, 1));
        CompletableFuture<Lease> leased = new CompletableFuture<>();
        Thread dead = new Thread(() -> leased.complete(permit.tryAcquire().orElseThrow()));
        dead.start();
        dead.join();
        assertThat(permit.tryAcquire()).isEmpty();
        assertThat(permit.tryAcquire(Duration.ofMillis(50))).isEmpty();
        leased.join().close();
        permit.tryAcquire(LONG).orElseThrow().close();
    }

    @Test
    @Tag("H01")
    void mutexThatForgetsItsHolder_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CuratorLocks.ofCurator(curator, path, new InterProcessSemaphoreMutex(curator, path)))
                .withMessageContaining(path)
                .withMessageContaining("new InterProcessSemaphoreV2(framework, path, 1)");
    }

    @Test
    @Tag("H01")
    void threadThatHasLostTheWriteLock_isNotGivenTheReadLock() throws Exception {
        InterProcessReadWriteLock theirs = new InterProcessReadWriteLock(curator, path);
        InterProcessLock write = CuratorLocks.ofCurator(curator, path, theirs.writeLock());
        InterProcessLock read = CuratorLocks.ofCurator(curator, path, theirs.readLock());
        Lease writing = write.acquire();
        read.acquire().close(); // as long as it has the lock
        expire(curator);
        InterProcessReadWriteLock.WriteLock next = new InterProcessReadWriteLock(other, path).writeLock();
        assertThat(next.acquire(120, TimeUnit.SECONDS)).isTrue();
        assertThatThrownBy(read::acquire).isInstanceOf(LockLostException.class).hasMessageContaining(path);
        assertThatThrownBy(read::tryAcquire).isInstanceOf(LockLostException.class);
        writing.close();
        assertThat(read.tryAcquire()).isEmpty();
        next.release();
        read.tryAcquire(LONG).orElseThrow().close();
    }

    /** Acquires the lock together with one of ours, and lets the time of both be over. */
    private Lease outOfTime(InterProcessLock theirs) throws InterruptedException {
        LockOptions limited = LockOptions.defaults().withHoldAtMost(Duration.ofMillis(300));
        InterProcessLock ours = new dev.zkrecipes.mutex.InterProcessMutex(client(), path + "-ours");
        Lease lease = new InterProcessMultiLock(List.of(theirs, ours), limited).acquire();
        Soon.await().until(() -> lease.state() == LeaseState.LOST);
        awaitNodes(path + "-ours", 0);
        return lease;
    }

    @Test
    @Tag("H215")
    void permitWhoseTimeIsOver_doesNotKeepItsThreadFromTheNext_whenTheSessionHasEnded() throws Exception {
        InterProcessLock permit = CuratorLocks.ofCurator(curator, path, new InterProcessSemaphoreV2(curator, path, 1));
        Lease lease = outOfTime(permit);
        awaitNodes(path + "/leases", 0);
        lease.close();
        expire(curator);
        permit.tryAcquire(LONG).orElseThrow().close();
    }

    @Test
    @Tag("H216")
    void mutexWhoseTimeIsOver_isGivenBack_whenItsThreadClosesTheLease() throws Exception {
        Lease lease = outOfTime(mutexOf(curator));
        awaitNodes(1);
        lease.close();
        awaitNodes(0);
        expire(curator);
        mutexOf(curator).tryAcquire(LONG).orElseThrow().close();
    }

    /** Curator wraps what its multi-lock throws if several of its locks refuse. */
    @Test
    @Tag("H216")
    void multiLockOfCuratorWhoseTimeIsOver_isGivenBack_whenItsThreadClosesTheLease() throws Exception {
        List<String> paths = List.of(path + "/a", path + "/b");
        Lease lease = outOfTime(CuratorLocks.ofCurator(
                curator, path, new org.apache.curator.framework.recipes.locks.InterProcessMultiLock(curator, paths)));
        for (String each : paths) {
            awaitNodes(each, 1);
        }
        lease.close();
        for (String each : paths) {
            awaitNodes(each, 0);
        }
    }

    @Test
    @Tag("H02")
    void blockedListener_doesNotHideALoss() throws Exception {
        CountDownLatch told = blockListenersOf(curator);
        try {
            expire(curator); // which blocks the listener
            assertLossIsNoticed(curator);
        } finally {
            told.countDown();
        }
    }

    @Test
    @Tag("H02")
    void openCircuit_doesNotHideALoss() throws Exception {
        try (CuratorFramework breaking = withACircuit(server)) {
            expire(breaking); // which opens the circuit
            assertLossIsNoticed(breaking);
        }
    }

    @Test
    void openCircuit_doesNotKeepTheLeaseSuspended() throws Exception {
        try (EmbeddedZooKeeper own = EmbeddedZooKeeper.start();
                CuratorFramework breaking = withACircuit(own)) {
            Lease lease = mutexOf(breaking).acquire();
            own.stop();
            Soon.await().until(() -> lease.state() == LeaseState.SUSPENDED);
            own.restart();
            Soon.await().atMost(Duration.ofSeconds(120)).until(() -> lease.state() == LeaseState.HELD);
            lease.close();
        }
    }

    /** Curator tells its listeners of that when the next handle is connected. */
    @Test
    @Tag("H02")
    void handleThatCuratorReplaces_losesTheLease() throws Exception {
        Lease lease = mutexOf(curator).acquire();
        curator.getZookeeperClient().reset();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        lease.close();
    }

    /** Curator 5.9.0 may fail like this when its session ends while it creates the node. */
    @Test
    @Tag("H327")
    void nullPointerOfCurator_isReportedAsTheLostSession() throws Exception {
        AtomicBoolean fails = new AtomicBoolean(true);
        InterProcessMutex theirs = new InterProcessMutex(curator, path) {
            @Override
            public boolean acquire(long time, TimeUnit unit) throws Exception {
                if (fails.getAndSet(false)) {
                    curator.getZookeeperClient().reset();
                    throw new NullPointerException("ourPath is null");
                }
                return super.acquire(time, unit);
            }
        };
        InterProcessLock lock = CuratorLocks.ofCurator(curator, path, theirs);
        assertThatThrownBy(() -> lock.tryAcquire(LONG))
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining(path)
                .hasRootCauseInstanceOf(NullPointerException.class);
        fails.set(true);
        InterProcessLock ours = new dev.zkrecipes.mutex.InterProcessMutex(client(), path + "-ours");
        new InterProcessMultiLock(List.of(lock, ours))
                .tryAcquire(LONG)
                .orElseThrow()
                .close();
    }

    private void assertLossIsNoticed(CuratorFramework framework) throws InterruptedException {
        InterProcessLock lock = mutexOf(framework);
        Lease lease = lock.acquire();
        CompletableFuture<Void> lost = new CompletableFuture<>();
        lease.onLost(() -> lost.complete(null));
        expire(framework);
        Soon.get(lost);
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        mutexOf(other).tryAcquire(LONG).orElseThrow().close();
        lease.close();
    }

    @Test
    @Tag("H02")
    void blockedListener_doesNotHideALostConnection() throws Exception {
        try (EmbeddedZooKeeper own = EmbeddedZooKeeper.start();
                CuratorFramework away =
                        Curators.connected(Curators.settings(own).build())) {
            CountDownLatch told = blockListenersOf(away);
            Lease lease = mutexOf(away).acquire();
            Soon.await().until(() -> lease.state() == LeaseState.HELD);
            own.stop();
            Soon.await().until(() -> lease.state() == LeaseState.SUSPENDED);
            told.countDown();
            own.restart();
            Soon.await().atMost(Duration.ofSeconds(120)).until(() -> lease.state() == LeaseState.HELD);
            lease.close();
        }
    }

    @Test
    void viewInANamespace_isRefused_andLeavesNoListener() {
        CuratorFramework view = curator.usingNamespace("billing");
        int listeners = listeners();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CuratorLocks.ofCurator(view, path, new InterProcessMutex(view, path)))
                .withMessageContaining("billing")
                .withMessageContaining("give the framework itself");
        assertThat(listeners()).isEqualTo(listeners);
    }

    @Test
    void lockMadeWithAView_isHeldByTheFramework() throws Exception {
        InterProcessLock lock =
                CuratorLocks.ofCurator(curator, path, new InterProcessMutex(curator.usingNamespace("billing"), path));
        int listeners = listeners();
        try (Lease lease = lock.acquire()) {
            Soon.await().until(() -> lease.state() == LeaseState.HELD);
            assertThat(server.children("/billing" + path)).hasSize(1);
        }
        assertThat(listeners()).isEqualTo(listeners);
    }

    private int listeners() {
        return ((StandardListenerManager<?>) curator.getCuratorListenable()).size()
                + ((StandardListenerManager<?>) curator.getConnectionStateListenable()).size();
    }

    /** Curator's own waiter ends too, as its handle's last event reaches every watch. */
    @Test
    void closedFramework_endsWaiters() throws Exception {
        InterProcessMutex busy = new InterProcessMutex(other, path);
        busy.acquire();
        InterProcessLock lock = mutexOf(curator);
        InterProcessMutex theirs = new InterProcessMutex(curator, path);
        workers.start(
                "adapted",
                () -> assertThatThrownBy(lock::acquire)
                        .isInstanceOf(ClientClosedException.class)
                        .hasMessageContaining(path));
        workers.start("theirs", () -> assertThatThrownBy(theirs::acquire).isInstanceOf(IllegalStateException.class));
        awaitNodes(3);
        curator.close();
        workers.join(LONG);
        assertThat(curator.getState()).isEqualTo(CuratorFrameworkState.STOPPED);
        busy.release();
    }
}
