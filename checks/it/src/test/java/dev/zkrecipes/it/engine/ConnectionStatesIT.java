// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.LeakCheck;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How a client that opens its own sessions connects, stays and ends. */
class ConnectionStatesIT extends ServerStage {
    private static final Duration LONG = Duration.ofSeconds(120);
    private static final int SESSION_MILLIS = 6000;

    private static ZooKeeperClient open(String connectString) {
        return open(connectString, Duration.ofMillis(SESSION_MILLIS));
    }

    private static ZooKeeperClient open(String connectString, Duration session) {
        return ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(session)
                .build();
    }

    @Test
    void states_areReportedOnceInOrder_offTheEventThread() throws Exception {
        List<ConnectionState> told = new CopyOnWriteArrayList<>();
        List<String> threads = new CopyOnWriteArrayList<>();
        List<ConnectionState> toldToAnother = new CopyOnWriteArrayList<>();
        try (FaultProxy proxy = proxy()) {
            proxy.pause();
            ZooKeeperClient client = open(proxy.connectString(), TestClients.LONG_SESSION);
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
            expire(client);
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
        FaultProxy proxy = proxy();
        proxy.pause();
        try (ZooKeeperClient client = open(proxy.connectString(), TestClients.LONG_SESSION)) {
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

    @Test
    void awaitConnected_endsWithInterruptAndClose() throws Exception {
        FaultProxy proxy = proxy();
        Workers workers = opened(new Workers());
        proxy.pause();
        ZooKeeperClient client = open(proxy.connectString());
        Thread interrupted = workers.start(
                "interrupted",
                () -> assertThatThrownBy(() -> client.awaitConnected(LONG)).isInstanceOf(InterruptedException.class));
        await().until(() -> interrupted.getState() == Thread.State.TIMED_WAITING);
        interrupted.interrupt();
        // A wait that has been interrupted but has not run since would end with the close.
        workers.join(LONG);
        Thread closed = workers.start(
                "closed",
                () -> assertThatThrownBy(() -> client.awaitConnected(LONG)).isInstanceOf(ClientClosedException.class));
        await().until(() -> closed.getState() == Thread.State.TIMED_WAITING);
        client.close();
        workers.join(LONG);
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
        lease.closeAsync().get(120, TimeUnit.SECONDS);
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
        FaultProxy proxy = proxy();
        ZooKeeperClient client = open(proxy.connectString());
        assertThat(client.awaitConnected(LONG)).isTrue();
        Lease lease = new InterProcessMutex(client, path).acquire();
        proxy.refuse();
        await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
        client.close();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        threads.assertNoNewThreads(Duration.ofSeconds(120));
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
        closed.get(120, TimeUnit.SECONDS);
        threads.assertNoNewThreads(LONG);
    }

    @Test
    @Tag("H28")
    void blockedListener_delaysNoOther() throws Exception {
        CountDownLatch released = new CountDownLatch(1);
        try (ZooKeeperClient client = TestClients.connect(settings())) {
            CompletableFuture<Void> told = new CompletableFuture<>();
            client.addConnectionListener(state -> Uninterruptibles.awaitUninterruptibly(released));
            client.addConnectionListener(state -> {
                if (state == ConnectionState.EXPIRED) {
                    told.complete(null);
                }
            });
            expire(client);
            told.get(120, TimeUnit.SECONDS);
        } finally {
            released.countDown();
        }
    }
}
