// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.TimedTry;
import dev.zkrecipes.test.internal.Workers;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.listen.ListenerManager;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.KeeperException;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Curator's locks behind our interface, above all as members of a multi-lock. */
class CuratorLockAsOursIT extends ServerStage {
    private final Workers workers = opened(new Workers());
    private CuratorFramework curator;
    private ZooKeeperClient client;
    private InterProcessLock lock;

    @BeforeEach
    void open() throws InterruptedException {
        curator = opened(Curators.connect(server));
        client = client();
        lock = theirs(curator);
    }

    private InterProcessLock theirs(CuratorFramework framework) {
        return CuratorLocks.ofCurator(framework, path, Curators.mutex(framework, path));
    }

    @Test
    @Tag("H65")
    void mutexesOfBothLibraries_excludeEachOther() throws Exception {
        InterProcessMutex ours = new InterProcessMutex(client, path);
        Lease lease = lock.acquire();
        Soon.await().until(lease::isValid);
        assertThat(lease.path()).isEqualTo(path);
        assertThat(ours.tryAcquire()).isEmpty();
        lease.close();
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        Lease held = ours.acquire();
        assertThat(lock.tryAcquire()).isEmpty();
        assertThat(lock.tryAcquire(Duration.ofMillis(50))).isEmpty();
        held.close();
        lock.tryAcquire(Duration.ofSeconds(120)).orElseThrow().close();
        awaitNodes(0);
    }

    @Test
    void multiLockOfBothLibraries_isAllOrNothing() throws Exception {
        InterProcessMutex ours = new InterProcessMutex(client, path + "-ours");
        InterProcessMultiLock both = new InterProcessMultiLock(List.of(ours, lock));
        InterProcessMutex busy = new InterProcessMutex(client, path);
        Lease busyLease = busy.acquireAsync().get(120, TimeUnit.SECONDS);
        assertThat(both.tryAcquire()).isEmpty();
        assertThat(TimedTry.on(both)).isEmpty();
        assertThat(ours.isHeldByCurrentThread()).isFalse();
        busyLease.close();
        Lease all = both.tryAcquire(Duration.ofSeconds(120)).orElseThrow();
        assertThat(server.children(path)).hasSize(1);
        assertThat(server.children(path + "-ours")).hasSize(1);
        all.close();
        Soon.await()
                .until(() -> server.children(path).isEmpty()
                        && server.children(path + "-ours").isEmpty());
    }

    @Test
    void expiredFrameworkSession_losesEveryHold() throws Exception {
        InterProcessMultiLock both =
                new InterProcessMultiLock(List.of(new InterProcessMutex(client, path + "-ours"), lock));
        Lease all = both.acquire();
        Lease alone = lock.acquire();
        CompletableFuture<Void> told = new CompletableFuture<>();
        all.onLost(() -> told.complete(null));
        server.expireSession(CuratorHandle.of(curator).getSessionId());
        assertThat(told).succeedsWithin(Duration.ofSeconds(120));
        assertThat(all.state()).isEqualTo(LeaseState.LOST);
        assertThat(alone.state()).isEqualTo(LeaseState.LOST);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThatThrownBy(lock::acquire).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lock::release).isInstanceOf(LockLostException.class);
        all.close();
        Lease next = lock.tryAcquire(Duration.ofSeconds(120)).orElseThrow();
        Soon.await().until(next::isValid);
        next.close();
        assertThat(server.children(path)).isEmpty();
    }

    /** What Curator does when it is not one session that saw the request and the grant is unknown. */
    @Test
    void grantAcrossTwoSessions_isReleased_andRequestedAgain() throws Exception {
        AtomicInteger acquired = new AtomicInteger();
        AtomicInteger released = new AtomicInteger();
        InterProcessLock doubtful = CuratorLocks.ofCurator(curator, path, new Fake() {
            @Override
            public boolean acquire(long time, TimeUnit unit) throws Exception {
                if (acquired.incrementAndGet() == 1) {
                    long session = CuratorHandle.of(curator).getSessionId();
                    server.expireSession(session);
                    Soon.await().until(() -> CuratorHandle.of(curator).getSessionId() != session);
                    assertThat(curator.blockUntilConnected(20, TimeUnit.SECONDS))
                            .isTrue();
                }
                return true;
            }

            @Override
            public void release() {
                released.incrementAndGet();
            }
        });
        Lease lease = doubtful.tryAcquire(Duration.ofSeconds(120)).orElseThrow();
        assertThat(released).hasValue(acquired.get() - 1);
        assertThat(acquired).hasValueGreaterThan(1);
        lease.close();
        assertThat(released).hasValue(acquired.get());
    }

    @Test
    void curatorErrors_becomeLockExceptions() {
        InterProcessLock cut = CuratorLocks.ofCurator(curator, path, new Fake() {
            @Override
            public boolean acquire(long time, TimeUnit unit) throws Exception {
                throw time == 0 ? new KeeperException.ConnectionLossException() : new KeeperException.NoAuthException();
            }
        });
        assertThatThrownBy(cut::tryAcquire)
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining(path)
                .hasCauseInstanceOf(KeeperException.ConnectionLossException.class);
        assertThatThrownBy(() -> cut.tryAcquire(Duration.ofHours(1)))
                .isExactlyInstanceOf(LockException.class)
                .hasCauseInstanceOf(KeeperException.NoAuthException.class);
        assertThat(cut.holdCount()).isZero();
    }

    /** A lease whose release fails. */
    private Lease leaseFailingWith(Exception told) throws InterruptedException {
        return CuratorLocks.ofCurator(curator, path, new Fake() {
                    @Override
                    public void release() throws Exception {
                        throw told;
                    }
                })
                .acquire();
    }

    /** What Curator's mutex throws, and its semaphores, which wrap it. */
    private static Stream<Exception> lostConnections() {
        Exception reason = new KeeperException.ConnectionLossException();
        return Stream.of(reason, new IOException(reason));
    }

    private static Stream<Exception> interruptions() {
        Exception reason = new InterruptedException();
        return Stream.of(reason, new IOException(reason));
    }

    @ParameterizedTest
    @MethodSource("lostConnections")
    void releaseWithoutAConnection_isLeftToCurator(Exception told) throws Exception {
        Lease lease = leaseFailingWith(told);
        lease.close();
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
    }

    @Test
    @Tag("H53")
    void releaseByAnInterruptedThread_givesTheLockBack_andKeepsTheFlag() throws Exception {
        Lease lease = lock.acquire();
        Thread.currentThread().interrupt();
        lease.close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(server.children(path)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("interruptions")
    @Tag("H53")
    void releaseThatIsInterrupted_isLeftToCurator_andKeepsTheFlag(Exception told) throws Exception {
        Lease lease = leaseFailingWith(told);
        lease.close();
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @Tag("H53")
    void releaseByAnInterruptedThread_stillTellsWhatFailed_andKeepsTheFlag() throws Exception {
        Lease lease = leaseFailingWith(new KeeperException.NoAuthException());
        Thread.currentThread().interrupt();
        assertThatThrownBy(lease::close).hasCauseInstanceOf(KeeperException.NoAuthException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("interruptions")
    @Tag("H52")
    void interruptedAcquire_clearsTheFlagThatCuratorSetsAgain(Exception told) {
        InterProcessLock interrupted = CuratorLocks.ofCurator(curator, path, new Fake() {
            @Override
            public boolean acquire(long time, TimeUnit unit) throws Exception {
                Thread.currentThread().interrupt();
                throw told;
            }
        });
        assertThatThrownBy(interrupted::acquire)
                .isInstanceOf(InterruptedException.class)
                .matches(thrown -> thrown == told || thrown.getCause() == told, "tells what Curator threw");
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    @Tag("H02")
    void closedFramework_losesTheLease_whichClosesSilently() throws Exception {
        try (CuratorFramework own = Curators.connect(server)) {
            InterProcessLock lost = theirs(own);
            Lease lease = lost.acquire();
            CompletableFuture<Void> told = new CompletableFuture<>();
            lease.onLost(() -> told.complete(null));
            own.close();
            assertThat(told).succeedsWithin(Duration.ofSeconds(120));
            assertThat(lease.state()).isEqualTo(LeaseState.LOST);
            assertThat(lease.ended()).succeedsWithin(Duration.ofSeconds(120)).isEqualTo(LeaseState.LOST);
            assertThat(lost.isHeldByCurrentThread()).isFalse();
            assertThatThrownBy(lost::acquire).isInstanceOf(LockLostException.class);
            lease.close();
            assertThat(lost.holdCount()).isZero();
        }
        assertThat(lock.tryAcquire(Duration.ofSeconds(120))).isPresent();
    }

    /** Such a server has no majority behind it, which may end the session and grant the lock to somebody else. */
    @Test
    @SuppressWarnings("unchecked")
    void readOnlyServer_suspendsTheLease() throws Exception {
        Lease lease = lock.acquire();
        var listeners = (ListenerManager<ConnectionStateListener, ConnectionStateListener>)
                curator.getConnectionStateListenable();
        listeners.forEach(listener -> listener.stateChanged(curator, ConnectionState.READ_ONLY));
        assertThat(lease.state()).isEqualTo(LeaseState.SUSPENDED);
        listeners.forEach(listener -> listener.stateChanged(curator, ConnectionState.RECONNECTED));
        Soon.await().until(lease::isValid);
        lease.close();
    }

    @Test
    void leaseOfADeadThread_saysThatCuratorLetsNobodyReleaseIt() throws Exception {
        CompletableFuture<Lease> acquired = new CompletableFuture<>();
        workers.start("owner", () -> acquired.complete(lock.acquire()));
        workers.join(Duration.ofSeconds(120));
        assertThatThrownBy(acquired.join()::close)
                .isInstanceOf(LockException.class)
                .hasMessageStartingWith("Curator's lock " + path + " belongs to thread ")
                .hasMessageContaining("which has ended");
    }

    @Test
    void curatorsEventThread_isRefused() throws Exception {
        assertRefusedOnCuratorsEventThread(lock::acquire);
        assertRefusedOnCuratorsEventThread(lock::tryAcquire);
        assertRefusedOnCuratorsEventThread(() -> lock.tryAcquire(Duration.ofSeconds(1)));
    }

    private void assertRefusedOnCuratorsEventThread(ThrowingCallable call) throws Exception {
        CompletableFuture<Throwable> refusal = new CompletableFuture<>();
        curator.getZookeeperClient()
                .getZooKeeper()
                .getData("/", false, (rc, node, context, data, stat) -> refusal.complete(catchThrowable(call)), null);
        assertThat(refusal)
                .succeedsWithin(Duration.ofSeconds(120), InstanceOfAssertFactories.THROWABLE)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("call from another thread");
    }

    @Test
    void operationsCuratorLacks_areRefused() throws Exception {
        try (Lease lease = lock.acquire()) {
            assertThatThrownBy(lease::fencingToken)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining(path);
            assertThatThrownBy(() -> MultiLease.tokensOf(lease)).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(lease::guard).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> MultiLease.guardsOf(lease)).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(lease::verify).isInstanceOf(UnsupportedOperationException.class);
        }
        assertThatThrownBy(lock::acquireAsync).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(lock::participants).isInstanceOf(UnsupportedOperationException.class);
    }

    /** A lock of Curator's that does nothing. */
    private static class Fake implements org.apache.curator.framework.recipes.locks.InterProcessLock {
        @Override
        public void acquire() throws Exception {
            acquire(-1, TimeUnit.SECONDS);
        }

        @Override
        public boolean acquire(long time, TimeUnit unit) throws Exception {
            return true;
        }

        @Override
        public void release() throws Exception {}

        @Override
        public boolean isAcquiredInThisProcess() {
            return false;
        }
    }
}
