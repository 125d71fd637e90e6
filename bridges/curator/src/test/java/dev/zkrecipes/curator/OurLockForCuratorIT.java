// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.mutex.InterProcessSemaphoreMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.TimedTry;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.Locker;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Code that is written against Curator's interface finds what it knows, with a lock of ours behind it. */
class OurLockForCuratorIT extends ServerStage {
    private final Workers workers = opened(new Workers());
    private CuratorFramework curator;
    private ZooKeeperClient client;
    private InterProcessLock lock;

    @BeforeEach
    void open() throws InterruptedException {
        curator = opened(Curators.connect(server));
        client = opened(CuratorClients.over(curator));
        assertThat(client.awaitConnected(Duration.ofSeconds(120))).isTrue();
        lock = CuratorLocks.asCurator(new InterProcessMutex(client, path));
    }

    private InterProcessLock theirs() {
        return Curators.mutex(curator, path);
    }

    @Test
    @Tag("H65")
    void curatorsMutex_excludesOurs_bothWays() throws Exception {
        InterProcessLock theirs = theirs();
        lock.acquire();
        assertThat(theirs.acquire(0, TimeUnit.SECONDS)).isFalse();
        lock.release();
        assertThat(theirs.acquire(120, TimeUnit.SECONDS)).isTrue();
        assertThat(lock.acquire(0, TimeUnit.SECONDS)).isFalse();
        assertThat(lock.acquire(-5, TimeUnit.SECONDS)).isFalse();
        boolean granted = TimedTry.of(limit -> lock.acquire(limit.toMillis(), TimeUnit.MILLISECONDS));
        assertThat(granted).isFalse();
        theirs.release();
        assertThat(lock.acquire(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
        lock.release();
        assertThat(lock.acquire(-1, null))
                .as("for as long as it takes, as Curator reads it")
                .isTrue();
        lock.release();
        assertThat(server.children(path)).isEmpty();
    }

    @Test
    void holds_areCountedByThread() throws Exception {
        lock.acquire();
        assertThat(lock.acquire(120, TimeUnit.SECONDS)).isTrue();
        workers.start("another", () -> {
            assertThat(lock.acquire(0, TimeUnit.SECONDS)).isFalse();
            assertThatThrownBy(lock::release).isInstanceOf(IllegalMonitorStateException.class);
        });
        workers.join(Duration.ofSeconds(120));
        lock.release();
        assertThat(lock.isAcquiredInThisProcess()).isTrue();
        lock.release();
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
        assertThatThrownBy(lock::release).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void semaphoreMutex_isReleasedByAnyThread() throws Exception {
        InterProcessLock mutex = CuratorLocks.asCurator(new InterProcessSemaphoreMutex(client, path));
        mutex.acquire();
        assertThat(mutex.acquire(0, TimeUnit.SECONDS)).isFalse();
        workers.start("another", mutex::release);
        workers.join(Duration.ofSeconds(120));
        assertThat(mutex.isAcquiredInThisProcess()).isFalse();
    }

    @Test
    void lostLock_isNotReacquired_beforeItsSilentRelease() throws Exception {
        lock.acquire();
        server.expireSession(CuratorHandle.of(curator).getSessionId());
        Soon.await().until(() -> !lock.isAcquiredInThisProcess());
        assertThatThrownBy(lock::acquire).isInstanceOf(LockLostException.class);
        lock.release();
        lock.acquire();
        assertThat(lock.isAcquiredInThisProcess()).isTrue();
        lock.release();
    }

    @Test
    void interruptedWait_ends() throws Exception {
        InterProcessLock theirs = theirs();
        theirs.acquire();
        CompletableFuture<Thread> waiting = new CompletableFuture<>();
        workers.start("waiter", () -> {
            waiting.complete(Thread.currentThread());
            assertThatThrownBy(lock::acquire).isInstanceOf(InterruptedException.class);
        });
        awaitNodes(2);
        Soon.get(waiting).interrupt();
        workers.join(Duration.ofSeconds(120));
        theirs.release();
    }

    @Test
    void errors_areCuratorsOwnTypes() throws Exception {
        try (EmbeddedZooKeeper gone = EmbeddedZooKeeper.start();
                ZooKeeperClient cut = ZooKeeperClient.connect(gone.connectString())) {
            assertThat(cut.awaitConnected(Duration.ofSeconds(120))).isTrue();
            InterProcessLock unreachable = CuratorLocks.asCurator(new InterProcessMutex(cut, path));
            gone.stop();
            assertThatThrownBy(() -> unreachable.acquire(0, TimeUnit.SECONDS))
                    .isInstanceOf(KeeperException.ConnectionLossException.class)
                    .hasCauseInstanceOf(LockConnectionException.class);
            cut.close();
            assertThatThrownBy(unreachable::acquire)
                    .isInstanceOf(IllegalStateException.class)
                    .hasCauseInstanceOf(ClientClosedException.class);
        }
    }

    @Test
    void curatorsCompositeLocks_workWithOurs() throws Exception {
        InterProcessLock second = CuratorLocks.asCurator(new InterProcessMutex(client, path + "-second"));
        InterProcessMultiLock both = new InterProcessMultiLock(List.of(lock, second));
        try (Locker locker = new Locker(both, 20, TimeUnit.SECONDS)) {
            assertThat(locker).isNotNull();
            assertThat(both.isAcquiredInThisProcess()).isTrue();
            assertThat(server.children(path)).hasSize(1);
            assertThat(server.children(path + "-second")).hasSize(1);
        }
        assertThat(both.isAcquiredInThisProcess()).isFalse();
        try (Lease free = new InterProcessMutex(client, path).tryAcquire().orElseThrow()) {
            assertThat(both.acquire(0, TimeUnit.SECONDS))
                    .as("the thread holds a part")
                    .isTrue();
            both.release();
            Soon.await().until(free::isValid);
        }
    }
}
