// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Lateness;
import dev.zkrecipes.test.internal.TimedTry;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** P4: a timed acquire ends within its time plus 50 ms, whatever it was doing; an untimed try does not wait at all. */
@WithZooKeeper(tickTimeMillis = 200)
@Timeout(600)
class MutexTimeIT {
    private static final Duration LIMIT = Duration.ofMillis(500);
    private static final Duration TOLERANCE = Duration.ofMillis(50);
    private static final int TRIES = 3;
    private static final Duration LATENCY = Duration.ofMillis(150);

    private final EmbeddedZooKeeper server;
    private final String path;

    MutexTimeIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/time/" + test.getTestMethod().orElseThrow().getName();
    }

    private static ZooKeeperClient unconnected(String connectString) {
        return ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(Duration.ofSeconds(30))
                .build();
    }

    private static ZooKeeperClient client(String connectString) throws InterruptedException {
        ZooKeeperClient client = unconnected(connectString);
        assertThat(client.awaitConnected(Duration.ofSeconds(20))).isTrue();
        return client;
    }

    /** Has the classes loaded, so that the first measured call is like every other. */
    @BeforeEach
    void warmUp() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            Lease held = mutex.acquireAsync().get(120, TimeUnit.SECONDS);
            assertThat(TimedTry.on(mutex)).isEmpty();
            assertThat(mutex.tryAcquire()).isEmpty();
            held.close();
        }
    }

    private static void assertEndsInTime(InterProcessMutex mutex) throws Exception {
        for (Callable<Boolean> call : List.<Callable<Boolean>>of(
                () -> mutex.tryAcquire(LIMIT).isPresent(),
                () -> mutex.asLock().tryLock(LIMIT.toMillis(), TimeUnit.MILLISECONDS))) {
            assertEndsInTime(() -> isAcquired(call));
        }
    }

    /** Whether the lock is busy cannot always be seen. */
    private static boolean isAcquired(Callable<Boolean> call) throws Exception {
        try {
            return call.call();
        } catch (LockConnectionException e) {
            return false;
        }
    }

    /** Late means later than plain waits of the same length at the same time, so that a slow machine does not count. */
    private static void assertEndsInTime(Callable<Boolean> call) throws Exception {
        AtomicLong plain = new AtomicLong();
        try (Workers control = new Workers();
                Lateness lateness = Lateness.measure()) {
            for (int i = 0; i < TRIES; i++) {
                control.start("plain-wait", () -> {
                    long start = System.nanoTime();
                    assertThat(new CountDownLatch(1).await(LIMIT.toNanos(), TimeUnit.NANOSECONDS))
                            .isFalse();
                    plain.accumulateAndGet(System.nanoTime() - start, Math::max);
                });
            }
            long start = System.nanoTime();
            boolean acquired = call.call();
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            Duration late = lateness.soFar();
            control.join(Duration.ofSeconds(20));
            assertThat(acquired).isFalse();
            Duration waited =
                    Duration.ofNanos(Math.max(plain.get(), LIMIT.plus(late).toNanos()));
            assertThat(took).isBetween(LIMIT, waited.plus(TOLERANCE));
        }
    }

    @Test
    @Tag("H50")
    void timedAcquireWithNoServerAtAll_endsInTime() throws Exception {
        server.stop();
        try (ZooKeeperClient client = unconnected(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            assertEndsInTime(mutex);
            server.restart();
            assertThat(client.awaitConnected(Duration.ofSeconds(20))).isTrue();
            mutex.acquire().close();
            assertThat(server.children(path)).isEmpty();
        }
    }

    @Test
    @Tag("H50")
    void timedAcquireFromASilentServer_endsInTime() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient connected = client(proxy.connectString())) {
            proxy.pause();
            try (ZooKeeperClient connecting = unconnected(proxy.connectString())) {
                assertEndsInTime(new InterProcessMutex(connecting, path));
                assertEndsInTime(new InterProcessMutex(connected, path));
                proxy.resume();
            }
            await().until(() -> server.children(path).isEmpty());
        }
    }

    @Test
    @Tag("H50")
    void timedAcquireLosingItsServer_endsInTime() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient holding = client(server.connectString());
                ZooKeeperClient client = client(proxy.connectString());
                Workers workers = new Workers()) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            Lease held = new InterProcessMutex(holding, path).acquire();
            List<Runnable> losses = List.of(proxy::refuse, proxy::pause);
            List<Runnable> ends = List.of(proxy::accept, proxy::resume);
            for (int i = 0; i < losses.size(); i++) {
                Thread timed = workers.start(
                        "timed",
                        () -> assertEndsInTime(
                                () -> isAcquired(() -> mutex.tryAcquire(LIMIT).isPresent())));
                await().pollInterval(Duration.ofMillis(10))
                        .until(() -> server.children(path).size() == 2 || !timed.isAlive());
                losses.get(i).run();
                workers.join(Duration.ofSeconds(20));
                ends.get(i).run();
                assertThat(client.awaitConnected(Duration.ofSeconds(20))).isTrue();
                await().until(() -> server.children(path).size() == 1);
            }
            held.close();
        }
    }

    @Test
    @Tag("H50")
    void timedAcquireBehindAHolder_endsInTime() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            Lease held = mutex.acquireAsync().get(120, TimeUnit.SECONDS);
            assertEndsInTime(mutex);
            held.close();
        }
    }

    @Test
    @Tag("H55")
    void tryOnABusyLock_isOneRoundTripAndOneRead() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient holding = client(server.connectString());
                ZooKeeperClient client = client(proxy.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            Lease held = new InterProcessMutex(holding, path).acquire();
            proxy.latency(LATENCY);
            for (Callable<Boolean> call : List.<Callable<Boolean>>of(
                    () -> mutex.tryAcquire().isPresent(),
                    () -> mutex.tryAcquire(Duration.ZERO).isPresent(),
                    () -> mutex.asLock().tryLock(),
                    () -> mutex.asLock().tryLock(0, TimeUnit.SECONDS),
                    () -> mutex.asLock().tryLock(-1, TimeUnit.SECONDS))) {
                RequestCounts before = proxy.requestsSeen(); // the holder's checks are not in it
                List<Duration> took = new ArrayList<>();
                List<Duration> tookInTime = new ArrayList<>();
                for (int i = 0; i < TRIES; i++) {
                    long start = System.nanoTime();
                    tookInTime.add(
                            Lateness.without(() -> assertThat(call.call()).isFalse()));
                    took.add(Duration.ofNanos(System.nanoTime() - start));
                }
                RequestCounts spent = proxy.requestsSeen().minus(before);
                // The shortest of several: what the call waits for is the wire, the rest is the machine.
                assertThat(Collections.min(took)).isGreaterThanOrEqualTo(LATENCY.multipliedBy(2));
                // Two round trips would be four latencies.
                assertThat(Collections.min(tookInTime))
                        .isLessThanOrEqualTo(LATENCY.multipliedBy(7).dividedBy(2));
                assertThat(spent.total()).as(spent.toString()).isEqualTo(TRIES);
                assertThat(spent.of(RequestType.GET_CHILDREN2))
                        .as(spent.toString())
                        .isEqualTo(TRIES);
            }
            held.close();
        }
    }

    @Test
    @Tag("H55")
    void tryWithoutAConnection_failsAtOnce() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            server.stop();
            await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
            try (Lateness lateness = Lateness.measure()) {
                long start = System.nanoTime();
                assertThatThrownBy(mutex::tryAcquire)
                        .isInstanceOf(LockConnectionException.class)
                        .hasMessageContaining(path);
                assertThatThrownBy(() -> mutex.asLock().tryLock()).isInstanceOf(LockConnectionException.class);
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LATENCY.plus(lateness.soFar()));
            }
        } finally {
            server.restart();
        }
    }
}
