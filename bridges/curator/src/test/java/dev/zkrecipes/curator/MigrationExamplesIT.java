// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.SharedCountListener;
import org.apache.curator.framework.recipes.shared.SharedCountReader;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The code of docs/curator.md; {@link MigrationGuideTest} compares them. */
class MigrationExamplesIT extends ServerStage {
    private CuratorFramework curator;
    private int worked;

    @BeforeEach
    void open() {
        curator = opened(CuratorFrameworkFactory.builder()
                .connectString(server.connectString())
                .retryPolicy(new RetryOneTime(100))
                .ensembleTracker(false) // which has a watch of its own
                .build());
        curator.start();
    }

    private void work() {
        worked++;
    }

    private String compute() {
        work();
        return "done";
    }

    @Test
    void multiLockBesideCuratorsOwn() throws Exception {
        ZooKeeperClient seven = CuratorClients.over(curator);
        ZooKeeperClient nine = CuratorClients.over(curator);
        InterProcessMultiLock both = new InterProcessMultiLock(
                List.of(new InterProcessMutex(seven, "/accounts/7"), new InterProcessMutex(nine, "/accounts/9")));
        try (Lease lease = both.acquire()) {
            assertThat(MultiLease.tokensOf(lease)).containsOnlyKeys("/accounts/7", "/accounts/9");
        }
    }

    @Test
    void clientOnTheFramework_andALockOfEitherInterface() throws Exception {
        ZooKeeperClient client = CuratorClients.over(curator);
        InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders");
        mutex.acquire().close();
        assertThat(server.watchCount()).as("the standing watch").isEqualTo(1);
        Optional<String> result = mutex.tryCall(Duration.ofSeconds(2), lease -> compute());
        assertThat(result).hasValue("done");
        InterProcessLock lock = CuratorLocks.mutex(curator, "/locks/orders");
        if (lock.acquire(2, TimeUnit.SECONDS)) {
            try {
                work();
            } finally {
                lock.release();
            }
        }
        assertThat(worked).isEqualTo(2);
    }

    @Test
    void limitFromASharedCount() throws Exception {
        ZooKeeperClient client = CuratorClients.over(curator);
        SharedCount count = new SharedCount(curator, "/limits/imports", 10);
        InterProcessSemaphore imports = new InterProcessSemaphore(client, "/semaphores/imports", 10);
        ExecutorService resizing = Executors.newSingleThreadExecutor();
        count.addListener(
                new SharedCountListener() {
                    @Override
                    public void countHasChanged(SharedCountReader counter, int newCount) throws InterruptedException {
                        imports.resize(newCount);
                    }

                    @Override
                    public void stateChanged(CuratorFramework framework, ConnectionState state) {}
                },
                resizing);
        count.start();
        imports.resize(count.getCount());

        assertThat(imports.availablePermits()).isEqualTo(10);
        count.setCount(4);
        Soon.await().until(() -> imports.availablePermits() == 4);
        count.close();
        resizing.shutdownNow();
    }

    /** Why the executor is needed. */
    @Test
    void resizeOnCuratorsEventThread_isRefused_andTheLimitStays() throws Exception {
        ZooKeeperClient client = CuratorClients.over(curator);
        InterProcessSemaphore permits = new InterProcessSemaphore(client, "/semaphores/direct", 10);
        BlockingQueue<Integer> refused = new LinkedBlockingQueue<>();
        try (SharedCount count = new SharedCount(curator, "/limits/direct", 10)) {
            count.addListener(new SharedCountListener() {
                @Override
                public void countHasChanged(SharedCountReader counter, int newCount) throws InterruptedException {
                    try {
                        permits.resize(newCount);
                    } catch (IllegalStateException e) {
                        refused.add(newCount);
                    }
                }

                @Override
                public void stateChanged(CuratorFramework framework, ConnectionState state) {}
            });
            count.start();
            count.setCount(4);
            Soon.await().until(() -> refused.contains(4)); // Curator may also tell the number that it began with
            assertThat(permits.availablePermits()).isEqualTo(10);
        }
    }
}
