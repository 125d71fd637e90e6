// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Exceptions of drivers and listeners are reported, leave nothing behind, and affect no one else. */
@WithZooKeeper(tickTimeMillis = 200)
@Timeout(600)
class MutexCallbackIT {
    private final EmbeddedZooKeeper server;
    private final String path;
    private ZooKeeperClient client;

    MutexCallbackIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/callback/" + test.getTestMethod().orElseThrow().getName();
    }

    @BeforeEach
    void connect() throws Exception {
        client = ZooKeeperClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(Duration.ofSeconds(10))
                .build();
        new InterProcessMutex(client, path).acquire().close();
    }

    @AfterEach
    void close() {
        client.close();
    }

    /** A driver that works until it is told to fail in one of its methods. */
    private static final class FailingDriver implements LockDriver {
        private final LockDriver mutex = new MutexDriver();
        private final String method;
        private final Throwable failure;
        private volatile boolean armed;

        FailingDriver(String method, Throwable failure) {
            this.method = method;
            this.failure = failure;
        }

        @Override
        public String toString() {
            return method + " throws " + failure;
        }

        void arm() {
            armed = true;
        }

        private void reach(String reached) {
            if (armed && method.equals(reached)) {
                if (failure instanceof Error error) {
                    throw error;
                }
                throw (RuntimeException) failure;
            }
        }

        @Override
        public String nodeName() {
            reach("nodeName");
            return mutex.nodeName();
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            reach("parse");
            return mutex.parse(childName);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            reach("decide");
            return mutex.decide(predecessors, self);
        }
    }

    static Stream<FailingDriver> failingDrivers() {
        return Stream.of("decide", "parse")
                .flatMap(method -> Stream.of(new IllegalStateException("broken"), new StackOverflowError())
                        .map(failure -> new FailingDriver(method, failure)));
    }

    @ParameterizedTest
    @MethodSource("failingDrivers")
    @Tag("H45")
    void throwingDriver_failsTheAcquireWithItsCause_andLeavesNoNode(FailingDriver driver) {
        InterProcessLock lock = new LockInternals(client, path, driver, LockOptions.defaults()).threadOwned();
        driver.arm();
        for (ThrowingCallable acquire : List.<ThrowingCallable>of(
                () -> lock.acquireAsync().orTimeout(20, TimeUnit.SECONDS).join(),
                lock::tryAcquire,
                () -> lock.tryAcquire(Duration.ofSeconds(20)))) {
            assertThatThrownBy(acquire)
                    .satisfiesAnyOf(
                            thrown -> assertRefused(thrown, driver.failure),
                            thrown -> assertRefused(thrown.getCause(), driver.failure));
        }
        await().alias("no node left").until(() -> server.children(path).isEmpty());
        assertThat(server.watchCount()).isZero();
        new InterProcessMutex(client, path).tryAcquire().orElseThrow().close();
    }

    private void assertRefused(Throwable thrown, Throwable cause) {
        assertThat(thrown)
                .isInstanceOf(LockRefusedException.class)
                .hasCause(cause)
                .hasMessageContaining(path)
                .hasMessageContaining(FailingDriver.class.getName());
    }

    @Test
    @Tag("H45")
    void driverThrowingAtWakeUp_failsTheWaiter() throws Exception {
        for (FailingDriver driver : failingDrivers().toList()) {
            Lease held = new InterProcessMutex(client, path).acquire();
            String holder = path + "/" + server.children(path).get(0);
            CompletableFuture<Lease> waiting = new LockInternals(client, path, driver, LockOptions.defaults())
                    .threadOwned()
                    .acquireAsync();
            await().until(() -> !server.childWatchers(holder).isEmpty());
            driver.arm();
            held.close();
            assertThatThrownBy(() -> waiting.get(120, TimeUnit.SECONDS))
                    .cause()
                    .satisfies(thrown -> assertRefused(thrown, driver.failure));
            await().alias("no node left").until(() -> server.children(path).isEmpty());
        }
    }

    @Test
    @Tag("H45")
    void nodeName_isReadOnlyWhenTheLockIsCreated() throws Exception {
        FailingDriver driver = new FailingDriver("nodeName", new IllegalStateException("broken"));
        InterProcessLock lock = new LockInternals(client, path, driver, LockOptions.defaults()).threadOwned();
        driver.arm();
        lock.tryAcquire().orElseThrow().close();
        lock.tryAcquire(Duration.ofSeconds(20)).orElseThrow().close();
        assertThatThrownBy(() -> new LockInternals(client, path, driver, LockOptions.defaults()).threadOwned())
                .isSameAs(driver.failure);
    }

    @Test
    @Tag("H45")
    void throwingListener_doesNotStopTheOthers() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        Lease lease = mutex.acquire();
        AtomicInteger told = new AtomicInteger();
        CompletableFuture<Lease> next = mutex.acquireAsync();
        await().until(() -> server.children(path).size() == 2);
        List<CompletableFuture<?>> dependents = new ArrayList<>();
        for (Throwable failure : List.of(new IllegalStateException("broken"), new StackOverflowError())) {
            client.addConnectionListener(state -> sneak(failure));
            lease.onLost(() -> sneak(failure));
            dependents.add(lease.ended().thenRun(() -> sneak(failure)).toCompletableFuture());
            dependents.add(next.whenComplete((granted, refused) -> sneak(failure)));
        }
        client.addConnectionListener(state -> told.incrementAndGet());
        lease.onLost(told::incrementAndGet);

        server.expireSession(client.zooKeeper().orElseThrow().getSessionId());
        Lease granted = next.get(120, TimeUnit.SECONDS);
        // Of the lease once; of the connection: suspended, expired, connected.
        await().until(() -> told.get() >= 3);
        await().until(() -> dependents.stream().allMatch(CompletableFuture::isCompletedExceptionally));
        lease.close();
        granted.verify();
        granted.close();
        assertThat(server.children(path)).isEmpty();
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable failure) throws T {
        throw (T) failure;
    }
}
