// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client on handles that a supplier replaces. */
class SuppliedHandlesIT extends ServerStage {
    private static final Duration WAIT = Duration.ofSeconds(60);
    private static final int SESSION_MILLIS = (int) TestClients.LONG_SESSION.toMillis();

    private ZooKeeper handle() throws IOException, InterruptedException {
        ZooKeeper handle = new ZooKeeper(server.connectString(), SESSION_MILLIS, event -> {});
        await().until(() -> handle.getState() == ZooKeeper.States.CONNECTED);
        return handle;
    }

    @Test
    void suppliedHandle_isReplacedAfterItsEnd() throws Exception {
        ZooKeeper first = opened(handle());
        ZooKeeper second = opened(handle());
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
            awaitNodes(2);

            server.expireSession(first.getSessionId());
            await().until(() -> held.state() == LeaseState.LOST);
            int before = asked.get();
            await().until(() -> asked.get() > before + 1); // again and again, while there is but a dead one
            assertThat(waiting).isNotDone();
            current.set(second);
            waiting.get(120, TimeUnit.SECONDS);
            assertThat(server.ephemerals(second.getSessionId())).hasSize(1);
            assertThat(client.zooKeeper()).containsSame(second);
            await().until(() -> client.connectionState() == ConnectionState.CONNECTED);
            held.close();
        }
        assertThat(server.children(path)).isEmpty();
        await().until(() -> server.watchCount() == 0);
        assertThat(second.getState()).isEqualTo(ZooKeeper.States.CONNECTED);
    }

    private static void use(ZooKeeperClient client, String path) {
        Soon.get(Soon.get(new InterProcessMutex(client, path).acquireAsync()).closeAsync());
    }

    /** Also of a handle that the client had before. */
    @Test
    @Tag("H89")
    void latestSuppliedHandle_isUsedAtOnce_andDeterminesTheState() throws Exception {
        ZooKeeper first = opened(handle());
        ZooKeeper second = opened(handle());
        AtomicReference<ZooKeeper> current = new AtomicReference<>(first);
        ZooKeeperClient client = opened(ZooKeeperClient.over(current::get));
        Lease held = Soon.get(new InterProcessMutex(client, path).acquireAsync());
        List<ConnectionState> told = new CopyOnWriteArrayList<>();
        client.addConnectionListener(told::add);
        current.set(second);
        Lease lost = Soon.get(new InterProcessMutex(client, path + "-lost").acquireAsync());
        assertThat(client.zooKeeper()).containsSame(second);
        assertThat(server.ephemerals(first.getSessionId())).hasSize(1);
        assertThat(server.ephemerals(second.getSessionId())).hasSize(1);
        current.set(first);
        use(client, path + "-another");
        assertThat(client.zooKeeper()).containsSame(first);
        server.expireSession(second.getSessionId());
        Soon.await().until(() -> lost.state() == LeaseState.LOST);
        use(client, path + "-another");
        assertThat(held.state()).isIn(LeaseState.HELD, LeaseState.SUSPENDED);
        Soon.await().until(() -> client.connectionState() == ConnectionState.CONNECTED);
        assertThat(told).doesNotContain(ConnectionState.EXPIRED, ConnectionState.SUSPENDED);
        assertThat(client.zooKeeper()).containsSame(first);
        held.close();
        lost.close();
    }

    /** As when the application goes over to a handle with new credentials, and servers refuse the old ones later. */
    @Test
    @Tag("H89")
    void refusedCredentialsOfAFormerHandle_leaveTheStateAlone() throws Exception {
        ZooKeeper first = opened(handle());
        ZooKeeper second = opened(handle());
        AtomicReference<ZooKeeper> current = new AtomicReference<>(first);
        ZooKeeperClient client = opened(ZooKeeperClient.over(current::get));
        Lease held = Soon.get(new InterProcessMutex(client, path).acquireAsync());
        current.set(second);
        use(client, path + "-another");
        assertThat(client.zooKeeper()).containsSame(second);
        List<ConnectionState> told = new CopyOnWriteArrayList<>();
        client.addConnectionListener(told::add);
        first.addAuthInfo("no-such-scheme", new byte[0]);
        await().until(() -> held.state() == LeaseState.LOST);
        use(client, path + "-another");
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CONNECTED);
        assertThat(client.connectionTrouble()).isEmpty();
        assertThat(told).isEmpty();
        held.close();
    }

    @Test
    @Tag("H208")
    void requestThatWaitsOnAHandleWhoseCredentialsAreRefused_queuesOnTheNextOne() throws Exception {
        ZooKeeper first = opened(handle());
        ZooKeeper second = opened(handle());
        AtomicReference<ZooKeeper> current = new AtomicReference<>(first);
        ZooKeeperClient client = opened(ZooKeeperClient.over(current::get));
        Lease rival = Soon.get(new InterProcessMutex(client(), path).acquireAsync());
        CompletableFuture<Lease> waiting = new InterProcessMutex(client, path).acquireAsync();
        awaitNodes(2);
        current.set(second);
        first.addAuthInfo("no-such-scheme", new byte[0]);
        await().until(() -> server.ephemerals(second.getSessionId()).size() == 1 || waiting.isDone());
        rival.close();
        Soon.get(Soon.get(waiting).closeAsync());
    }

    /** A request to give a lock back is to be enforced whatever becomes of the handle on which it was made. */
    @Test
    @Tag("H208")
    void requestToGiveBack_outlivesAHandleWhoseCredentialsAreRefused() throws Exception {
        ZooKeeper first = opened(handle());
        ZooKeeper second = opened(handle());
        AtomicReference<ZooKeeper> current = new AtomicReference<>(first);
        ZooKeeperClient client = opened(ZooKeeperClient.over(current::get));
        Lease rival = Soon.get(new InterProcessMutex(client(), path).acquireAsync());
        Revocation asked = new Revoker(client)
                .withGrace(Duration.ofSeconds(3))
                .request(new InterProcessMutex(client, path))
                .get(0);
        current.set(second);
        first.addAuthInfo("no-such-scheme", new byte[0]);
        assertThat(asked.await(WAIT)).contains(RevocationOutcome.BROKEN);
        rival.close();
    }

    /** The lease is one of a former handle. What counts is the connection of that handle, not of the one in use. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("H86")
    void close_waitsForTheConnectionOfItsOwnHandle(boolean isOfLostOne) throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeper lost = opened(new ZooKeeper(proxy.connectString(), SESSION_MILLIS, event -> {}));
        await().until(() -> lost.getState() == ZooKeeper.States.CONNECTED);
        ZooKeeper kept = opened(handle());
        AtomicReference<ZooKeeper> current = new AtomicReference<>(isOfLostOne ? lost : kept);
        ZooKeeperClient client = opened(ZooKeeperClient.builder()
                .handles(current::get)
                .requestTimeout(WAIT)
                .build());
        Lease held = new InterProcessMutex(client, path).acquire();
        current.set(isOfLostOne ? kept : lost);
        use(client, path + "-another");
        assertThat(client.zooKeeper()).containsSame(current.get());
        proxy.refuse();
        await().until(() -> isOfLostOne
                ? held.state() == LeaseState.SUSPENDED
                : client.connectionState() == ConnectionState.SUSPENDED);
        long begin = System.nanoTime();
        held.close();
        if (isOfLostOne) {
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(WAIT);
        } else {
            assertThat(server.children(path)).isEmpty();
        }
        proxy.accept();
    }

    @Test
    void firstTryOnAConnectedHandle_isNotRefused() throws Exception {
        ZooKeeper first = opened(handle());
        ZooKeeper second = opened(handle());
        AtomicReference<ZooKeeper> current = new AtomicReference<>(first);
        try (ZooKeeperClient client = ZooKeeperClient.over(current::get)) {
            InterProcessLock mutex = new InterProcessMutex(client, path);
            mutex.tryAcquire().orElseThrow().close();
            current.set(second);
            mutex.tryAcquire().orElseThrow().close();
        }
        ZooKeeperClient client = opened(ZooKeeperClient.wrap(first));
        new InterProcessMutex(client, path).tryAcquire().orElseThrow().close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void failingSupplier_isTheCauseOfTheError(boolean localHandoffs) throws Exception {
        IllegalStateException cause = new IllegalStateException("not\nstarted");
        try (ZooKeeperClient client = ZooKeeperClient.over(() -> {
            throw cause;
        })) {
            InterProcessLock mutex =
                    localHandoffs ? new HandoffMutex(client, path, 1) : new InterProcessMutex(client, path);
            assertThatThrownBy(mutex::tryAcquire)
                    .isInstanceOf(LockConnectionException.class)
                    .hasCause(cause)
                    .hasMessageContaining("supplier")
                    .hasMessageContaining("not\\u000astarted")
                    .hasMessageContaining(path);
            Soon.await() // the supplier may be slower than that
                    .untilAsserted(() -> assertThatThrownBy(() -> mutex.tryAcquire(Duration.ofMillis(100)))
                            .isInstanceOf(LockConnectionException.class)
                            .hasCause(cause)
                            .hasMessageContaining("supplier"));
        }
        ZooKeeperClient client = opened(ZooKeeperClient.over(() -> null));
        InterProcessLock mutex = new InterProcessMutex(client, path);
        assertThatThrownBy(mutex::tryAcquire)
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining("supplier");
    }

    @Test
    void brokenSupplier_endsWaiters() {
        ZooKeeperClient client = opened(ZooKeeperClient.over(() -> {
            throw new NoClassDefFoundError("gone");
        }));
        InterProcessLock mutex = new InterProcessMutex(client, path);
        assertThatThrownBy(mutex::acquire)
                .isInstanceOf(LockConnectionException.class)
                .hasCauseInstanceOf(NoClassDefFoundError.class)
                .hasMessageContaining("gone")
                .hasMessageContaining(path);
    }

    @Test
    void awaitConnected_asksTheSupplier() throws Exception {
        ZooKeeper handle = opened(handle());
        ZooKeeperClient client = opened(ZooKeeperClient.over(() -> handle));
        assertThat(client.awaitConnected(Duration.ofSeconds(120))).isTrue();
    }
}
