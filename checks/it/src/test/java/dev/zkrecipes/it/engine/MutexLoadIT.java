// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** P1, P3 under load: nothing but the mutex protects what is counted here. */
@Timeout(600)
@WithZooKeeper
class MutexLoadIT {
    /** While they do not wait for each other. */
    private static final int MOST_FOR_CALLBACKS = 64;

    private final EmbeddedZooKeeper server;
    private final String path;
    private int counter; // not volatile, not atomic: the lock is all there is
    private long lastToken;

    MutexLoadIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/load/" + test.getTestMethod().orElseThrow().getName();
    }

    private void increment(Lease lease) {
        assertThat(lease.fencingToken()).isGreaterThan(lastToken);
        lastToken = lease.fencingToken();
        counter = counter + 1;
    }

    @Test
    @Tag("soak")
    void counterUnderTheMutex_losesNoIncrement() throws Exception {
        int clients = 4;
        int threads = 32;
        int increments = 50;
        List<ZooKeeperClient> open = new ArrayList<>();
        try (Workers workers = new Workers()) {
            for (int c = 0; c < clients; c++) {
                ZooKeeperClient client = ZooKeeperClient.connect(server.connectString());
                open.add(client);
                InterProcessMutex mutex = new InterProcessMutex(client, path);
                for (int t = 0; t < threads; t++) {
                    workers.start("client-" + c + "-thread-" + t, () -> {
                        for (int i = 0; i < increments; i++) {
                            try (Lease lease = mutex.acquire()) {
                                increment(lease);
                            }
                        }
                    });
                }
            }
            workers.join(Duration.ofMinutes(8));
        } finally {
            open.forEach(ZooKeeperClient::close);
        }
        assertThat(counter).isEqualTo(threads * clients * increments);
        assertThat(server.watchCount()).isZero();
        assertThat(server.children(path)).isEmpty();
    }

    @Test
    @Tag("alone")
    @EnabledForJreRange(min = JRE.JAVA_21)
    void twoThousandVirtualThreads_areAllServed() throws Exception {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString());
                Workers workers = Workers.virtual()) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            for (int i = 0; i < 2000; i++) {
                workers.start("virtual-" + i, () -> {
                    try (Lease lease = mutex.acquire()) {
                        increment(lease);
                    }
                });
            }
            workers.join(Duration.ofMinutes(2));
            assertThat(counter).isEqualTo(2000);
        }
    }

    @Test
    @Tag("alone")
    void twoThousandAsyncWaiters_areServedByAConstantNumberOfThreads() throws Exception {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            Lease held = mutex.acquireAsync().get(120, TimeUnit.SECONDS);
            int threads = Thread.activeCount();
            List<CompletableFuture<Void>> served = new ArrayList<>();
            for (int i = 0; i < 2000; i++) {
                served.add(mutex.acquireAsync().thenCompose(lease -> {
                    increment(lease);
                    return lease.closeAsync();
                }));
            }
            // Each has waited long enough to watch its own node, and the first one the holder's too.
            await().atMost(Duration.ofMinutes(1)).until(() -> server.watchCount() == 2001);
            assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads + 8);
            held.close();
            CompletableFuture.allOf(served.toArray(CompletableFuture<?>[]::new)).get(2, TimeUnit.MINUTES);
            assertThat(counter).isEqualTo(2000);
            assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads + MOST_FOR_CALLBACKS + 8);
        }
    }
}
