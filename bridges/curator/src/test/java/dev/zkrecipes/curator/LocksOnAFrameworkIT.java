// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Code that makes a lock of Curator's where it needs it, after one line has changed. */
class LocksOnAFrameworkIT extends ServerStage {
    private final Workers workers = opened(new Workers());
    private CuratorFramework curator;

    @BeforeEach
    void open() throws InterruptedException {
        curator = opened(Curators.connect(server));
    }

    /** Two calls, two locks: the thread holds both by one node, and others are excluded. */
    @Test
    void twoMutexesOnAPath_areOneLock_reentrantForItsThread() throws Exception {
        CuratorLocks.mutex(curator, path).acquire();
        assertThat(CuratorLocks.mutex(curator, path).acquire(0, TimeUnit.SECONDS))
                .isTrue();
        assertThat(server.children(path)).hasSize(1);
        assertThat(Curators.mutex(curator, path).acquire(0, TimeUnit.SECONDS)).isFalse();
        workers.start(
                "another",
                () -> assertThat(CuratorLocks.mutex(curator, path).acquire(0, TimeUnit.SECONDS))
                        .isFalse());
        workers.join(Duration.ofSeconds(120));
        CuratorLocks.mutex(curator, path).release();
        assertThat(CuratorLocks.mutex(curator, path).isAcquiredInThisProcess()).isTrue();
        CuratorLocks.mutex(curator, path).release();
        assertThat(server.children(path)).isEmpty();
    }

    @Test
    void semaphoreMutex_isNotReentrant() throws Exception {
        InterProcessLock lock = CuratorLocks.semaphoreMutex(curator, path);
        lock.acquire();
        assertThat(lock.acquire(0, TimeUnit.SECONDS)).isFalse();
        lock.release();
    }

    @Test
    void readWriteLock_standsInOneQueueWithCurators() throws Exception {
        InterProcessReadWriteLock theirs = new InterProcessReadWriteLock(curator, path);
        CuratorLocks.ReadWriteLock ours = CuratorLocks.readWriteLock(curator, path);
        ours.readLock().acquire();
        assertThat(theirs.readLock().acquire(120, TimeUnit.SECONDS)).isTrue();
        assertThat(theirs.writeLock().acquire(0, TimeUnit.SECONDS)).isFalse();
        theirs.readLock().release();
        ours.readLock().release();
        ours.writeLock().acquire();
        assertThat(theirs.readLock().acquire(0, TimeUnit.SECONDS)).isFalse();
        ours.writeLock().release();
    }

    @Test
    void multiLock_holdsAllPaths() throws Exception {
        List<String> both = List.of(path + "-a", path + "-b");
        InterProcessLock lock = CuratorLocks.multiLock(curator, both);
        lock.acquire();
        assertThat(new InterProcessMultiLock(curator, both).acquire(0, TimeUnit.SECONDS))
                .isFalse();
        lock.release();
        assertThat(both).allSatisfy(each -> assertThat(server.children(each)).isEmpty());
    }

    @Test
    void framework_hasOneClient_whichEndsWithIt() throws Exception {
        ZooKeeperClient client = CuratorClients.shared(curator);
        assertThat(CuratorClients.shared(curator)).isSameAs(client);
        try (CuratorFramework second = Curators.connect(server)) {
            assertThat(CuratorClients.shared(second)).isNotSameAs(client);
        }
        client.close();
        ZooKeeperClient next = CuratorClients.shared(curator);
        assertThat(next).as("after the first was closed").isNotSameAs(client);
        CuratorLocks.mutex(curator, path).acquire();
        curator.close();
        Soon.await().until(() -> next.connectionState() == ConnectionState.CLOSED);
        assertThat(server.children(path)).isEmpty();
        assertThatIllegalStateException()
                .isThrownBy(() -> CuratorLocks.mutex(curator, path))
                .withMessageContaining("STOPPED");
    }
}
