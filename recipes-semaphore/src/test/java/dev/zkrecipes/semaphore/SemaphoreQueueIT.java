// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** Which requests get permits, and when. */
@Timeout(600)
@WithZooKeeper(tickTimeMillis = 100)
class SemaphoreQueueIT {
    private static final int LIMIT = 4;

    private final EmbeddedZooKeeper server;
    private final String path;
    private ZooKeeperClient client;
    private ZooKeeperClient other;
    private InterProcessSemaphore semaphore;
    private InterProcessSemaphore others;

    SemaphoreQueueIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/semaphores/" + test.getTestMethod().orElseThrow().getName();
    }

    @BeforeEach
    void connect() throws InterruptedException {
        client = connected();
        other = connected();
        semaphore = new InterProcessSemaphore(client, path, LIMIT);
        others = new InterProcessSemaphore(other, path, LIMIT);
    }

    private ZooKeeperClient connected() throws InterruptedException {
        return TestClients.connect(server.connectString());
    }

    @AfterEach
    void close() {
        client.close();
        other.close();
    }

    private void awaitNodes(int count) {
        await().until(() -> server.children(path).size() == count);
    }

    private static Lease soon(CompletableFuture<Lease> future) throws Exception {
        return future.get(120, TimeUnit.SECONDS);
    }

    @Test
    @Tag("H22")
    @Tag("soak")
    void leasesReturnedInRandomOrder_neverLeaveAnEligibleWaiterAsleep() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        List<Lease> held = new ArrayList<>();
        Deque<CompletableFuture<Lease>> waiting = new ArrayDeque<>();
        Deque<Integer> wanted = new ArrayDeque<>();
        List<Integer> sizes = new ArrayList<>();
        int free = LIMIT;
        for (int i = 0; i < 150; i++) {
            if (waiting.size() < 4 && random.nextBoolean()) {
                int permits = 1 + random.nextInt(LIMIT);
                wanted.add(permits);
                waiting.add((random.nextBoolean() ? semaphore : others).acquireAsync(permits));
                awaitNodes(held.size() + waiting.size());
            } else if (!held.isEmpty()) {
                int which = random.nextInt(held.size());
                free += sizes.remove(which);
                held.remove(which).close();
            }
            while (!wanted.isEmpty() && wanted.peek() <= free) {
                free -= wanted.peek();
                sizes.add(wanted.remove());
                held.add(soon(waiting.remove()));
            }
            assertThat(waiting).noneMatch(CompletableFuture::isDone);
        }
        waiting.forEach(future -> future.cancel(true));
        held.forEach(Lease::close);
        awaitNodes(0);
    }

    @Test
    @Tag("H24")
    void requestAboveTheLimit_isRefused_evenForTheFirstUser() {
        assertThatThrownBy(() -> semaphore.acquire(LIMIT + 1))
                .isInstanceOf(LockRefusedException.class)
                .hasMessageContaining("asks for 5 permits, and the limit is 4");
        assertThat(server.children("/semaphores")).doesNotContain(path.substring("/semaphores/".length()));
    }

    @Test
    @Tag("H41")
    void interruptsAtRandomTimes_loseNoPermit() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        AtomicInteger granted = new AtomicInteger();
        for (int i = 0; i < 300; i++) {
            try (Workers workers = new Workers()) {
                Thread acquirer = workers.start("acquirer", () -> {
                    try (Lease lease = semaphore.acquire(LIMIT)) {
                        granted.incrementAndGet();
                    } catch (InterruptedException e) {
                        assertThat(Thread.currentThread().isInterrupted()).isFalse();
                    }
                });
                LockSupport.parkNanos(random.nextInt(4_000_000));
                acquirer.interrupt();
                workers.join(Duration.ofSeconds(20));
            }
        }
        System.out.println(granted + " of 300 were granted");
        awaitNodes(0);
        assertThat(semaphore.availablePermits()).isEqualTo(LIMIT);
        semaphore.acquire(LIMIT).close();
    }

    @Test
    void participants_areShownWithTheirPermits() throws Exception {
        assertThat(semaphore.participants()).isEmpty();
        assertThat(semaphore.availablePermits()).isEqualTo(LIMIT);
        assertThat(semaphore.queueLength()).isZero();
        Lease held = semaphore.acquire(3);
        CompletableFuture<Lease> waiting = others.acquireAsync(2);
        awaitNodes(2);
        assertThat(semaphore.participants())
                .extracting(InterProcessSemaphore::permitsOf)
                .containsExactly(3, 2);
        assertThat(semaphore.participants())
                .extracting(participant -> participant.holding())
                .containsExactly(true, false);
        assertThat(semaphore.availablePermits()).isEqualTo(1);
        assertThat(others.queueLength()).isEqualTo(1);
        held.close();
        soon(waiting).close();
    }
}
