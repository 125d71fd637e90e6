// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.mutex.InterProcessSemaphoreMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Lateness;
import dev.zkrecipes.test.internal.Workers;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** P9: a release works whatever thread calls it and wherever it runs. */
@WithZooKeeper(tickTimeMillis = 200)
@Timeout(600)
class MutexReleaseIT {
    private static final Duration SESSION = Duration.ofSeconds(12);
    private static final Duration AT_ONCE = Duration.ofMillis(500);

    private final EmbeddedZooKeeper server;
    private final String path;

    MutexReleaseIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/release/" + test.getTestMethod().orElseThrow().getName();
    }

    private static ZooKeeperClient client(String connectString) throws InterruptedException {
        return client(connectString, SESSION);
    }

    private static ZooKeeperClient client(String connectString, Duration session) throws InterruptedException {
        return TestClients.connect(connectString, session);
    }

    // ---- With the interrupt flag set.

    @Test
    @Tag("H53")
    void releaseWithTheInterruptFlagSet_deletesTheNodeAndKeepsTheFlag() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            List<Workers.Body> ways = List.of(
                    mutex.acquire()::close, mutex::release, () -> mutex.asLock().unlock());
            mutex.acquire();
            mutex.acquire();
            assertThat(mutex.holdCount()).isEqualTo(3);
            mutex.release();
            mutex.release();
            for (Workers.Body way : ways) {
                if (mutex.holdCount() == 0) {
                    mutex.acquire();
                }
                Thread.currentThread().interrupt();
                Lateness.without(way);
                // The call waited for the server's word, so the node is gone now.
                assertThat(server.children(path)).isEmpty();
                assertThat(Thread.interrupted()).as("flag").isTrue();
            }

            Lease lease = mutex.acquire();
            Thread.currentThread().interrupt();
            CompletableFuture<Void> closed = lease.closeAsync();
            assertThat(Thread.interrupted()).as("flag").isTrue();
            closed.get(120, TimeUnit.SECONDS);
            assertThat(server.children(path)).isEmpty();
        } finally {
            Thread.interrupted();
        }
    }

    // ---- On ZooKeeper's event thread.

    @Test
    @Tag("H34")
    void releaseOnTheEventThread_worksWithoutWaiting() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient client = client(proxy.connectString())) {
            InterProcessSemaphoreMutex released = new InterProcessSemaphoreMutex(client, path + "/released");
            InterProcessMutex closed = new InterProcessMutex(client, path + "/closed");
            released.acquire();
            Lease lease = closed.acquireAsync().get(120, TimeUnit.SECONDS);
            // Waiting for an answer would take twice that.
            proxy.latency(AT_ONCE);

            List<Duration> took = onEventThread(
                    client, () -> List.of(Lateness.without(released::release), Lateness.without(lease::close)));
            assertThat(took).allSatisfy(each -> assertThat(each).isLessThan(AT_ONCE));
            await().until(() -> server.children(path + "/released").isEmpty()
                    && server.children(path + "/closed").isEmpty());
        }
    }

    @Test
    @Tag("H34")
    void blockingCallsOnTheEventThread_areRefusedAtOnce() throws Exception {
        try (ZooKeeperClient client = client(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            Lease lease = mutex.acquireAsync().get(120, TimeUnit.SECONDS);
            List<ThrowingCallable> calls = List.of(
                    mutex::acquire,
                    mutex::tryAcquire,
                    () -> mutex.tryAcquire(Duration.ofSeconds(5)),
                    () -> mutex.tryAcquire(Duration.ZERO),
                    () -> mutex.asLock().lock(),
                    () -> mutex.asLock().lockInterruptibly(),
                    () -> mutex.asLock().tryLock(),
                    () -> mutex.asLock().tryLock(5, TimeUnit.SECONDS),
                    mutex::participants,
                    lease::verify,
                    () -> client.awaitConnected(Duration.ofSeconds(20)));
            Duration took = onEventThread(
                    client,
                    () -> Lateness.without(() -> {
                        for (ThrowingCallable call : calls) {
                            assertThatThrownBy(call)
                                    .isInstanceOf(IllegalStateException.class)
                                    .hasMessageContaining("acquireAsync");
                        }
                    }));
            assertThat(took).isLessThan(Duration.ofSeconds(1));
            lease.close();
            assertThat(server.children(path)).isEmpty();
        }
    }

    /** What code returns when a watcher of the client's handle runs it. */
    private <T> T onEventThread(ZooKeeperClient client, Action<T> action) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        String trigger = "/trigger-" + System.nanoTime();
        client.zooKeeper().orElseThrow().exists(trigger, event -> {
            try {
                result.complete(action.run());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        server.createNode(trigger, new byte[0]);
        return result.get(120, TimeUnit.SECONDS);
    }

    @FunctionalInterface
    private interface Action<T> {
        T run() throws Exception;
    }

    // ---- For an owner that is dead.

    @Test
    @Tag("H44")
    @Tag("alone")
    void leaseOfADeadThread_isLogged_andCanBeClosedByAnyThread() throws Exception {
        // Short, as waiters look for dead owners every T/6.
        try (ZooKeeperClient client = client(server.connectString(), Duration.ofSeconds(6));
                Workers workers = new Workers()) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            Exchanger<Lease> acquired = new Exchanger<>();
            Exchanger<Lease> die = new Exchanger<>();
            Thread owner = workers.start("forgetful", () -> {
                acquired.exchange(mutex.acquire());
                die.exchange(null);
            });
            Lease lease = acquired.exchange(null);
            CompletableFuture<Lease> before = mutex.acquireAsync();
            await().until(() -> server.children(path).size() == 2);
            assertThatThrownBy(lease::close).isInstanceOf(IllegalMonitorStateException.class);

            String log = errorOutput(printed -> {
                die.exchange(null);
                owner.join();
                await().alias("a warning")
                        .until(() -> printed.toString(StandardCharsets.UTF_8).contains("forgetful"));
            });
            assertThat(log.lines().filter(line -> line.contains("forgetful")))
                    .allSatisfy(line -> assertThat(line).contains("WARN").contains(path));

            CompletableFuture<Lease> after = mutex.acquireAsync();
            await().until(() -> server.children(path).size() == 3);
            await().until(lease::isValid);
            assertThat(before).isNotDone();
            assertThatThrownBy(mutex::release).isInstanceOf(IllegalMonitorStateException.class);
            lease.close();
            before.get(120, TimeUnit.SECONDS).close();
            after.get(120, TimeUnit.SECONDS).close();
            assertThat(mutex.isAcquiredInThisProcess()).isFalse();
        }
    }

    /** What the process writes to its error output, where its log goes, while {@code action} runs. */
    private static String errorOutput(Listening action) throws Exception {
        PrintStream terminal = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            action.run(printed);
        } finally {
            System.setErr(terminal);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }

    @FunctionalInterface
    private interface Listening {
        void run(ByteArrayOutputStream printed) throws Exception;
    }
}
