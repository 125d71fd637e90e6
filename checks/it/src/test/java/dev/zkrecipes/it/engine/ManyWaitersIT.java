// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Workers;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What many waiters cost their own process: processor time of the engine, with a wide bound. */
@Tag("soak")
@Timeout(600)
@WithZooKeeper
class ManyWaitersIT {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final EmbeddedZooKeeper server;

    ManyWaitersIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    private ZooKeeperClient connect(Duration timeout) throws InterruptedException {
        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(timeout)
                .build();
        assertThat(client.awaitConnected(Duration.ofSeconds(120))).isTrue();
        return client;
    }

    /** The processor time of the engine threads of this JVM, in their lives. */
    private static Duration engineTime() {
        long nanos = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("zkrecipes-engine"))
                .mapToLong(thread -> THREADS.getThreadCpuTime(thread.getId()))
                .sum();
        return Duration.ofNanos(nanos);
    }

    private void awaitSettledBesideChecks(String path, int nodes) {
        long[] last = {SYSTEM.getProcessCpuTime()};
        await().pollInterval(Duration.ofSeconds(2))
                .atMost(Duration.ofSeconds(120))
                .until(() -> {
                    long now = SYSTEM.getProcessCpuTime();
                    boolean idle = now - last[0] < 400_000_000L;
                    last[0] = now;
                    return idle && server.children(path).size() == nodes;
                });
    }

    /** A short session would end rightly on a machine with much else to do; the processor time is what the waiters cost. */
    @Test
    @Tag("H78")
    void lease_staysValidBesideManyWaitersAndHoldingThreads() throws Exception {
        int threads = 2000;
        int waiters = 4000;
        Duration timeout = Duration.ofSeconds(20);
        CountDownLatch holding = new CountDownLatch(threads);
        CountDownLatch enough = new CountDownLatch(1);
        try (ZooKeeperClient client = connect(timeout);
                Workers workers = new Workers()) {
            for (int i = 0; i < threads; i++) {
                InterProcessLock own = new InterProcessMutex(client, "/own/" + i);
                workers.start("holder-" + i, () -> {
                    try (Lease lease = own.acquire()) {
                        holding.countDown();
                        enough.await();
                    }
                });
            }
            assertThat(holding.await(120, TimeUnit.SECONDS)).isTrue();
            Lease other = new InterProcessMutex(client, "/other").acquireAsync().get(120, TimeUnit.SECONDS);
            Lease held = new InterProcessMutex(client, "/busy").acquireAsync().get(120, TimeUnit.SECONDS);
            InterProcessLock lock = new InterProcessMutex(client, "/busy");
            List<CompletableFuture<Lease>> waiting =
                    Stream.generate(lock::acquireAsync).limit(waiters).toList();
            awaitSettledBesideChecks("/busy", waiters + 1);
            Duration busyBefore = engineTime();
            // Longer than the lease would be valid by what is known at the beginning.
            await().pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(20))
                    .during(timeout)
                    .atMost(timeout.plusSeconds(10))
                    .failFast("the lease is not valid", () -> !other.isValid())
                    .until(() -> true);
            assertThat(engineTime().minus(busyBefore))
                    .as("processor time of the engine in %s", timeout)
                    .isLessThan(Duration.ofSeconds(1));
            waiting.forEach(future -> future.cancel(false));
            var unused = held.closeAsync();
            enough.countDown();
        }
    }
}
