// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.LeakCheck;
import dev.zkrecipes.test.Soon;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.Worker;
import dev.zkrecipes.test.Workers;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How a client connects, stays and ends, for each kind of handle that it may use. */
@Timeout(60)
@WithZooKeeper(tickTimeMillis = 100)
class ConnectionStatesIT {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final int SESSION_MILLIS = 6000;

    private final EmbeddedZooKeeper server;
    private String path;

    ConnectionStatesIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    @BeforeEach
    void name() {
        path = "/connection-" + UUID.randomUUID();
    }

    private static ZooKeeperClient open(String connectString) {
        return ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(Duration.ofMillis(SESSION_MILLIS))
                .build();
    }

    private ZooKeeper handle() throws IOException, InterruptedException {
        ZooKeeper handle = new ZooKeeper(server.connectString(), SESSION_MILLIS, event -> {});
        await().until(() -> handle.getState() == ZooKeeper.States.CONNECTED);
        return handle;
    }

    // ---- Clients that open their own sessions.

    @Test
    void states_areReportedOnceInOrder_offTheEventThread() throws Exception {
        List<ConnectionState> told = new CopyOnWriteArrayList<>();
        List<String> threads = new CopyOnWriteArrayList<>();
        List<ConnectionState> toldToAnother = new CopyOnWriteArrayList<>();
        try (FaultProxy proxy = FaultProxy.to(server)) {
            proxy.pause();
            ZooKeeperClient client = open(proxy.connectString());
            assertThat(client.connectionState()).isEqualTo(ConnectionState.CONNECTING);
            client.addConnectionListener(state -> {
                throw new IllegalStateException("a listener that fails");
            });
            client.addConnectionListener(state -> {
                told.add(state);
                threads.add(Thread.currentThread().getName());
            });
            Consumer<ConnectionState> another = toldToAnother::add;
            client.addConnectionListener(another);
            proxy.resume();
            assertThat(client.awaitConnected(LONG)).isTrue();
            await().until(() -> told.size() == 1);

            proxy.cut();
            await().until(() -> told.size() == 3 && toldToAnother.size() == 3);
            client.removeConnectionListener(another);
            server.expireSession(client.zooKeeper().orElseThrow().getSessionId());
            await().until(() -> told.size() == 7);
            client.close();
            await().until(() -> told.size() == 8);
        }
        assertThat(told)
                .containsExactly(
                        ConnectionState.CONNECTED,
                        ConnectionState.SUSPENDED,
                        ConnectionState.CONNECTED,
                        ConnectionState.SUSPENDED,
                        ConnectionState.EXPIRED,
                        ConnectionState.CONNECTING,
                        ConnectionState.CONNECTED,
                        ConnectionState.CLOSED);
        assertThat(toldToAnother).isEqualTo(told.subList(0, 3));
        assertThat(threads).allSatisfy(name -> assertThat(name).startsWith("zkrecipes-callback-"));
    }

    @Test
    void awaitConnected_waitsForTheConnection() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server)) {
            proxy.pause();
            try (ZooKeeperClient client = open(proxy.connectString())) {
                assertThat(client.awaitConnected(Duration.ZERO)).isFalse();
                assertThat(client.awaitConnected(Duration.ofMillis(50))).isFalse();
                assertThatIllegalArgumentException().isThrownBy(() -> client.awaitConnected(Duration.ofNanos(-1)));
                proxy.resume();
                assertThat(client.awaitConnected(LONG)).isTrue();
                assertThat(client.awaitConnected(Duration.ZERO)).isTrue();
                proxy.refuse();
                await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
                assertThat(client.awaitConnected(Duration.ofMillis(50))).isFalse();
                proxy.accept();
                assertThat(client.awaitConnected(LONG)).isTrue();
            }
        }
    }

    @Test
    void awaitConnected_endsWithInterruptAndClose() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                Workers workers = new Workers()) {
            proxy.pause();
            ZooKeeperClient client = open(proxy.connectString());
            Worker interrupted = workers.start(
                    "interrupted",
                    () -> assertThatThrownBy(() -> client.awaitConnected(LONG))
                            .isInstanceOf(InterruptedException.class));
            await().until(() -> interrupted.thread().getState() == Thread.State.TIMED_WAITING);
            interrupted.interrupt();
            Worker closed = workers.start(
                    "closed",
                    () -> assertThatThrownBy(() -> client.awaitConnected(LONG))
                            .isInstanceOf(ClientClosedException.class));
            await().until(() -> closed.thread().getState() == Thread.State.TIMED_WAITING);
            client.close();
            workers.join(LONG);
        }
    }

    @Test
    void closedClient_refusesEverythingAndMayBeClosedAgain() throws Exception {
        ZooKeeperClient client = open(server.connectString());
        InterProcessLock mutex = new InterProcessMutex(client, path);
        Lease lease = mutex.acquire();
        client.close();
        client.close();

        assertThat(client.connectionState()).isEqualTo(ConnectionState.CLOSED);
        assertThat(client.zooKeeper()).isEmpty();
        assertThat(client.ownerLabel()).isNotEmpty();
        assertThatThrownBy(() -> client.awaitConnected(LONG)).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(mutex::participants).isInstanceOf(ClientClosedException.class);
        assertThat(mutex.acquireAsync())
                .failsWithin(LONG)
                .withThrowableThat()
                .withCauseInstanceOf(ClientClosedException.class);
        InterProcessLock fresh = new InterProcessMutex(client, path);
        assertThatThrownBy(fresh::acquire).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(fresh::tryAcquire).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> fresh.tryAcquire(LONG)).isInstanceOf(ClientClosedException.class);
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThatThrownBy(lease::verify).isInstanceOf(LockLostException.class);
        assertThatThrownBy(fresh::release).isInstanceOf(LockLostException.class); // of the other object
        assertThatThrownBy(fresh::release).isInstanceOf(IllegalMonitorStateException.class);
        lease.closeAsync().get(20, TimeUnit.SECONDS);
    }

    @Test
    @Tag("alone")
    void close_leavesNoThreadAndNoSession() throws Exception {
        LeakCheck threads = LeakCheck.start().onlyNamed("zkrecipes-");
        List<Long> sessions = server.sessions(); // some may be about to expire
        ZooKeeperClient client = open(server.connectString());
        InterProcessLock mutex = new InterProcessMutex(client, path);
        mutex.acquire();
        var unused = mutex.acquireAsync();
        client.addConnectionListener(state -> {});
        assertThat(threads.newThreads())
                .extracting(Thread::getName)
                .anyMatch(name -> name.contains("SendThread"))
                .anyMatch(name -> name.contains("EventThread"))
                .anyMatch(name -> name.startsWith("zkrecipes-engine-"));
        client.close();
        threads.assertNoNewThreads(LONG);
        await().until(() -> sessions.containsAll(server.sessions()));
        assertThat(server.children(path)).isEmpty();
    }

    @Test
    @Tag("alone")
    void closeWithoutAServer_leavesNoThread() throws Exception {
        LeakCheck threads = LeakCheck.start().onlyNamed("zkrecipes-");
        try (FaultProxy proxy = FaultProxy.to(server)) {
            ZooKeeperClient client = open(proxy.connectString());
            assertThat(client.awaitConnected(LONG)).isTrue();
            Lease lease = new InterProcessMutex(client, path).acquire();
            proxy.refuse();
            await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
            client.close();
            assertThat(lease.state()).isEqualTo(LeaseState.LOST);
            threads.assertNoNewThreads(Duration.ofSeconds(10));
        }
    }

    @Test
    @Tag("alone")
    void closeByAListener_doesNotWaitForItself() throws Exception {
        LeakCheck threads = LeakCheck.start().onlyNamed("zkrecipes-");
        ZooKeeperClient client = open(server.connectString());
        CompletableFuture<Void> closed = new CompletableFuture<>();
        Lease lease = new InterProcessMutex(client, path).acquire();
        var unused = lease.ended().thenRun(() -> {
            client.close();
            closed.complete(null);
        });
        lease.close();
        closed.get(20, TimeUnit.SECONDS);
        threads.assertNoNewThreads(LONG);
    }

    // ---- Clients on a handle of the application's.

    @Test
    @Tag("alone")
    void wrappedHandle_isUsedAndStaysOpenWithoutAWatchOrANodeOfOurs() throws Exception {
        try (ZooKeeper handle = handle()) {
            LeakCheck threads = LeakCheck.start().onlyNamed("zkrecipes-");
            ZooKeeperClient client = ZooKeeperClient.wrap(handle);
            assertThat(client.awaitConnected(LONG)).isTrue();
            assertThat(client.zooKeeper()).containsSame(handle);
            InterProcessLock mutex = new InterProcessMutex(client, path);
            Lease lease = mutex.acquire();
            CompletableFuture<Lease> waiting = mutex.acquireAsync();
            await().until(() -> server.children(path).size() == 2);
            assertThat(server.ephemerals(handle.getSessionId())).hasSize(2);

            client.close();
            assertThat(lease.state()).isEqualTo(LeaseState.LOST);
            assertThat(waiting).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(ClientClosedException.class);
            assertThat(client.connectionState()).isEqualTo(ConnectionState.CLOSED);
            assertThat(server.children(path)).isEmpty();
            threads.assertNoNewThreads(LONG);
            assertThat(handle.getState()).isEqualTo(ZooKeeper.States.CONNECTED);
            await().until(() -> server.watchCount() == 0);
            assertThat(handle.exists(path, false)).isNotNull();
        }
    }

    @Test
    void handleThatEnds_endsTheClientWithAClearError() throws Exception {
        try (ZooKeeper handle = handle();
                ZooKeeperClient client = ZooKeeperClient.wrap(handle);
                ZooKeeperClient rivals = open(server.connectString())) {
            InterProcessLock mutex = new InterProcessMutex(client, path);
            InterProcessLock other = new InterProcessMutex(client, path + "-busy");
            Lease held = mutex.acquire();
            Lease rival = new InterProcessMutex(rivals, path + "-busy").acquire();
            CompletableFuture<Lease> waiting = other.acquireAsync();
            await().until(() -> !server.childWatchers(rival.guard().getPath()).isEmpty());

            server.expireSession(handle.getSessionId());
            assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(ClientClosedException.class)
                    .hasMessageContaining("handle")
                    .hasMessageContaining("EXPIRED")
                    .hasMessageContaining(other.path());
            await().until(() -> held.state() == LeaseState.LOST);
            await().until(() -> client.connectionState() == ConnectionState.EXPIRED);
            held.close();
            assertThatThrownBy(mutex::acquire)
                    .isInstanceOf(ClientClosedException.class)
                    .hasMessageContaining("handle")
                    .hasMessageContaining(path);
            assertThatThrownBy(mutex::tryAcquire).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(mutex::participants).isInstanceOf(ClientClosedException.class);
            rival.close();
        }
    }

    @Test
    void handleThatIsClosed_closesTheClient() throws Exception {
        ZooKeeper handle = handle();
        try (ZooKeeperClient client = ZooKeeperClient.wrap(handle)) {
            InterProcessLock mutex = new InterProcessMutex(client, path);
            Lease held = mutex.acquire();
            handle.close();
            await().until(() -> held.state() == LeaseState.LOST);
            await().until(() -> client.connectionState() == ConnectionState.CLOSED);
            held.close();
            assertThatThrownBy(mutex::acquire)
                    .isInstanceOf(ClientClosedException.class)
                    .hasMessageContaining("handle");
        }
    }

    @Test
    @Tag("H29")
    void handleThatIsWrappedTwice_servesBothAndKeepsTheApplicationsWatches() throws Exception {
        try (ZooKeeper handle = handle()) {
            List<Watcher.Event.EventType> seen = new CopyOnWriteArrayList<>();
            ZooKeeperClient one = ZooKeeperClient.wrap(handle);
            try (ZooKeeperClient two = ZooKeeperClient.wrap(handle)) {
                assertThat(one.awaitConnected(LONG)).isTrue();
                Lease held = new InterProcessMutex(two, path).acquire();
                handle.getData(path + "/" + server.children(path).get(0), event -> seen.add(event.getType()), null);
                // It watches the same node and takes its watch back.
                assertThat(new InterProcessMutex(one, path).tryAcquire(Duration.ofSeconds(1)))
                        .isEmpty();
                one.close();
                held.verify();
                CompletableFuture<Lease> waiting = new InterProcessMutex(two, path).acquireAsync();
                await().until(() -> server.children(path).size() == 2);
                held.close();
                waiting.get(20, TimeUnit.SECONDS).close();
            }
            await().until(() -> !seen.isEmpty());
            assertThat(seen).containsExactly(Watcher.Event.EventType.NodeDeleted);
        }
    }

    // ---- Clients on handles that somebody else replaces.

    @Test
    void suppliedHandle_isReplacedAfterItsEnd() throws Exception {
        try (ZooKeeper first = handle();
                ZooKeeper second = handle()) {
            AtomicReference<ZooKeeper> current = new AtomicReference<>(first);
            AtomicInteger asked = new AtomicInteger();
            try (ZooKeeperClient client = ZooKeeperClient.over(() -> {
                asked.incrementAndGet();
                return current.get();
            })) {
                InterProcessLock mutex = new InterProcessMutex(client, path);
                Lease held = mutex.acquire();
                assertThat(server.ephemerals(first.getSessionId())).hasSize(1);
                CompletableFuture<Lease> waiting = mutex.acquireAsync();
                await().until(() -> server.children(path).size() == 2);

                server.expireSession(first.getSessionId());
                await().until(() -> held.state() == LeaseState.LOST);
                int before = asked.get();
                await().until(() -> asked.get() > before + 1); // again and again, while there is but a dead one
                assertThat(waiting).isNotDone();
                current.set(second);
                waiting.get(20, TimeUnit.SECONDS);
                assertThat(server.ephemerals(second.getSessionId())).hasSize(1);
                assertThat(client.zooKeeper()).containsSame(second);
                assertThat(client.connectionState()).isEqualTo(ConnectionState.CONNECTED);
                held.close();
            }
            assertThat(server.children(path)).isEmpty();
            await().until(() -> server.watchCount() == 0);
            assertThat(second.getState()).isEqualTo(ZooKeeper.States.CONNECTED);
        }
    }

    @Test
    void supplierIsAskedForEachAcquire_soANewHandleIsUsedAtOnce() throws Exception {
        try (ZooKeeper first = handle();
                ZooKeeper second = handle()) {
            AtomicReference<ZooKeeper> current = new AtomicReference<>(first);
            try (ZooKeeperClient client = ZooKeeperClient.over(current::get)) {
                InterProcessLock mutex = new InterProcessMutex(client, path);
                Lease held = mutex.acquire();
                current.set(second);
                Lease other = new InterProcessMutex(client, path + "-other").acquire();
                assertThat(server.ephemerals(first.getSessionId())).hasSize(1);
                assertThat(server.ephemerals(second.getSessionId())).hasSize(1);
                Soon.await().until(held::isValid);
                held.close();
                other.close();
            }
        }
    }

    @Test
    void firstTryOnAConnectedHandle_isNotRefused() throws Exception {
        try (ZooKeeper first = handle();
                ZooKeeper second = handle()) {
            AtomicReference<ZooKeeper> current = new AtomicReference<>(first);
            try (ZooKeeperClient client = ZooKeeperClient.over(current::get)) {
                InterProcessLock mutex = new InterProcessMutex(client, path);
                mutex.tryAcquire().orElseThrow().close();
                current.set(second);
                mutex.tryAcquire().orElseThrow().close();
            }
            try (ZooKeeperClient client = ZooKeeperClient.wrap(first)) {
                new InterProcessMutex(client, path).tryAcquire().orElseThrow().close();
            }
        }
    }

    @Test
    void awaitConnected_asksTheSupplier() throws Exception {
        try (ZooKeeper handle = handle();
                ZooKeeperClient client = ZooKeeperClient.over(() -> handle)) {
            assertThat(client.awaitConnected(LONG)).isTrue();
        }
    }

    @Test
    void failingSupplier_isTheCauseOfATrysError() throws Exception {
        IllegalStateException cause = new IllegalStateException("not\nstarted");
        try (ZooKeeperClient client = ZooKeeperClient.over(() -> {
            throw cause;
        })) {
            InterProcessLock mutex = new InterProcessMutex(client, path);
            assertThatThrownBy(mutex::tryAcquire)
                    .isInstanceOf(LockConnectionException.class)
                    .hasCause(cause)
                    .hasMessageContaining("supplier")
                    .hasMessageContaining("not\\u000astarted")
                    .hasMessageContaining(path);
            assertThatThrownBy(() -> mutex.tryAcquire(Duration.ofMillis(100)))
                    .isInstanceOf(LockConnectionException.class)
                    .hasCause(cause)
                    .hasMessageContaining("supplier");
        }
        try (ZooKeeperClient client = ZooKeeperClient.over(() -> null)) {
            InterProcessLock mutex = new InterProcessMutex(client, path);
            assertThatThrownBy(mutex::tryAcquire)
                    .isInstanceOf(LockConnectionException.class)
                    .hasMessageContaining("supplier");
        }
    }

    @Test
    void supplierThatFailsForAWhile_isAskedAgain() throws Exception {
        try (ZooKeeper handle = handle()) {
            AtomicInteger asked = new AtomicInteger();
            try (ZooKeeperClient client = ZooKeeperClient.over(() -> {
                if (asked.incrementAndGet() < 4) {
                    throw new IllegalStateException("not started");
                }
                return handle;
            })) {
                new InterProcessMutex(client, path).acquire().close();
                assertThat(asked).hasValueGreaterThanOrEqualTo(4);
            }
        }
    }

    @Test
    void brokenSupplier_endsWaiters() {
        try (ZooKeeperClient client = ZooKeeperClient.over(() -> {
            throw new NoClassDefFoundError("gone");
        })) {
            InterProcessLock mutex = new InterProcessMutex(client, path);
            assertThatThrownBy(mutex::acquire)
                    .isInstanceOf(LockConnectionException.class)
                    .hasCauseInstanceOf(NoClassDefFoundError.class)
                    .hasMessageContaining("gone")
                    .hasMessageContaining(path);
        }
    }
}
