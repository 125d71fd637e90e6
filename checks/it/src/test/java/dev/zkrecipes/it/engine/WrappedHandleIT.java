// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.LeakCheck;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.TimedTry;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client on a handle of the application's, which stays open when the client ends. */
class WrappedHandleIT extends ServerStage {
    private static final Duration LONG = Duration.ofSeconds(120);
    private static final int SESSION_MILLIS = (int) TestClients.LONG_SESSION.toMillis();

    private ZooKeeper handle() throws IOException, InterruptedException {
        ZooKeeper handle = new ZooKeeper(server.connectString(), SESSION_MILLIS, event -> {});
        await().until(() -> handle.getState() == ZooKeeper.States.CONNECTED);
        return handle;
    }

    /** A handle that shows which nodes it has watches for. */
    private static final class ShownHandle extends ZooKeeper {
        ShownHandle(String connectString) throws IOException {
            super(connectString, SESSION_MILLIS, event -> {});
        }

        boolean watchesNothing() {
            return getDataWatches().isEmpty() && getChildWatches().isEmpty();
        }

        boolean watchesDataOf(String path) {
            return getDataWatches().contains(path);
        }
    }

    /** The server's side of a watch on the path stays until the path goes: others may watch it by the same handle. */
    @Test
    @Tag("alone")
    void wrappedHandle_isUsed_andStaysOpenWithoutOurWatchesAndNodes() throws Exception {
        ShownHandle handle = opened(new ShownHandle(server.connectString()));
        await().until(() -> handle.getState() == ZooKeeper.States.CONNECTED);
        LeakCheck threads = LeakCheck.start().onlyNamed("zkrecipes-");
        ZooKeeperClient client = ZooKeeperClient.wrap(handle);
        assertThat(client.awaitConnected(LONG)).isTrue();
        assertThat(client.zooKeeper()).containsSame(handle);
        InterProcessLock mutex = new InterProcessMutex(client, path);
        Lease lease = mutex.acquire();
        CompletableFuture<Lease> waiting = mutex.acquireAsync();
        awaitNodes(2);
        assertThat(server.ephemerals(handle.getSessionId())).hasSize(2);

        client.close();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(waiting).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(ClientClosedException.class);
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CLOSED);
        assertThat(server.children(path)).isEmpty();
        threads.assertNoNewThreads(LONG);
        assertThat(handle.getState()).isEqualTo(ZooKeeper.States.CONNECTED);
        await().until(() -> queueWatches(path) == 0 && handle.watchesNothing());
        assertThat(handle.exists(path, false)).isNotNull();
    }

    /** The watch of the rule would stay for a second after its last waiter, but the client ends before. */
    @Test
    void clientThatEndsWhileItWaits_leavesNoWatchOfTheRule() throws Exception {
        ShownHandle handle = opened(new ShownHandle(server.connectString()));
        await().until(() -> handle.getState() == ZooKeeper.States.CONNECTED);
        Lease held = new InterProcessSemaphore(client(), path, 1).acquire();
        ZooKeeperClient client = ZooKeeperClient.wrap(handle);
        CompletableFuture<Lease> waiting = new InterProcessSemaphore(client, path, 1).acquireAsync();
        await().until(() -> handle.watchesDataOf(path));
        client.close();
        assertThat(waiting).failsWithin(LONG);
        await().until(handle::watchesNothing);
        held.close();
    }

    /** Without its client nobody else would delete them, as the application goes on with the handle. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("H186")
    void clientThatEndsWithoutAConnection_leavesNoNodeWhenThereIsOneAgain(boolean isWrapped) throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeper handle = opened(new ZooKeeper(proxy.connectString(), SESSION_MILLIS, event -> {}));
        await().until(() -> handle.getState() == ZooKeeper.States.CONNECTED);
        ZooKeeperClient client = isWrapped ? ZooKeeperClient.wrap(handle) : ZooKeeperClient.over(() -> handle);
        InterProcessLock mutex = new InterProcessMutex(client, path);
        Lease lease = mutex.acquire();
        var waiting = mutex.acquireAsync();
        awaitNodes(2);
        proxy.refuse();
        CompletableFuture<Void> gone = lease.closeAsync();
        client.close();
        assertThat(waiting).failsWithin(LONG);
        assertThat(gone)
                .failsWithin(LONG)
                .withThrowableThat()
                .withCauseInstanceOf(LockConnectionException.class)
                .withMessageContaining(path);
        proxy.accept();
        await().until(() -> server.children(path).isEmpty());
        assertThat(handle.getState()).isEqualTo(ZooKeeper.States.CONNECTED);
    }

    @Test
    @Tag("H186")
    void clientThatFails_leavesNoNode_howeverMany() throws Exception {
        ZooKeeper handle = opened(handle());
        ZooKeeperClient client = opened(ZooKeeperClient.wrap(handle));
        for (int i = 0; i < 250; i++) {
            new InterProcessMutex(client, path + "/" + i).acquire();
        }
        assertThat(server.ephemerals(handle.getSessionId())).hasSize(250);
        EngineClient.of(client).endBecauseOf(new IllegalStateException("made up"));
        await().until(() -> server.ephemerals(handle.getSessionId()).isEmpty());
        assertThat(handle.getState()).isEqualTo(ZooKeeper.States.CONNECTED);
    }

    /** The event thread of the handle is the application's, too. While it is kept busy, no answer is delivered. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("H205")
    void handleThatIsGivenUpAndLivesOn_keepsNoNode(boolean isWrapped) throws Exception {
        ZooKeeper handle = opened(new ZooKeeper(server.connectString(), 12_000, event -> {}));
        await().until(() -> handle.getState() == ZooKeeper.States.CONNECTED);
        ZooKeeperClient client = opened(isWrapped ? ZooKeeperClient.wrap(handle) : ZooKeeperClient.over(() -> handle));
        InterProcessLock mutex = new InterProcessMutex(client, path);
        Lease lease = mutex.acquire();
        CompletableFuture<Lease> waiting = mutex.acquireAsync();
        awaitNodes(2);
        CountDownLatch busy = new CountDownLatch(1);
        handle.exists("/", false, (rc, asked, context, stat) -> Uninterruptibles.awaitUninterruptibly(busy), null);
        await().atMost(LONG).until(waiting::isCompletedExceptionally); // after one and a half session time-outs
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        busy.countDown();
        await().until(() -> server.children(path).isEmpty());
        assertThat(handle.getState()).isEqualTo(ZooKeeper.States.CONNECTED);
        lease.close();
    }

    @Test
    void endedHandle_endsTheClientWithAClearError() throws Exception {
        ZooKeeper handle = opened(handle());
        ZooKeeperClient client = opened(ZooKeeperClient.wrap(handle));
        ZooKeeperClient rivals = client();
        InterProcessLock mutex = new InterProcessMutex(client, path);
        InterProcessLock other = new InterProcessMutex(client, path + "-busy");
        Lease held = mutex.acquire();
        Lease rival = new InterProcessMutex(rivals, path + "-busy").acquire();
        CompletableFuture<Lease> waiting = other.acquireAsync();
        await().until(() -> !server.childWatchers(rival.guard().getPath()).isEmpty());

        server.expireSession(handle.getSessionId());
        assertThatThrownBy(() -> waiting.get(120, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(ClientClosedException.class)
                .hasMessageContaining("handle")
                .hasMessageContaining("EXPIRED")
                .hasMessageContaining(other.path());
        await().until(() -> held.state() == LeaseState.LOST);
        await().until(() -> client.connectionState() == ConnectionState.EXPIRED);
        assertThat(client.zooKeeper()).isEmpty();
        assertThat(client.awaitConnected(Duration.ofDays(1))).isFalse();
        held.close();
        assertThatThrownBy(mutex::acquire)
                .isInstanceOf(ClientClosedException.class)
                .hasMessageContaining("handle")
                .hasMessageContaining(path);
        assertThatThrownBy(mutex::tryAcquire).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(mutex::participants).isInstanceOf(ClientClosedException.class);
        rival.close();
    }

    @Test
    void closedHandle_closesTheClient() throws Exception {
        ZooKeeper handle = handle();
        ZooKeeperClient client = opened(ZooKeeperClient.wrap(handle));
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

    @Test
    @Tag("H29")
    void handleWrappedTwice_servesBoth_andKeepsTheApplicationsWatches() throws Exception {
        ZooKeeper handle = opened(handle());
        List<Watcher.Event.EventType> seen = new CopyOnWriteArrayList<>();
        ZooKeeperClient one = ZooKeeperClient.wrap(handle);
        try (ZooKeeperClient two = ZooKeeperClient.wrap(handle)) {
            assertThat(one.awaitConnected(LONG)).isTrue();
            Lease held = new InterProcessMutex(two, path).acquire();
            handle.getData(path + "/" + server.children(path).get(0), event -> seen.add(event.getType()), null);
            // It watches the same node and takes its watch back.
            assertThat(TimedTry.on(new InterProcessMutex(one, path))).isEmpty();
            one.close();
            held.verify();
            CompletableFuture<Lease> waiting = new InterProcessMutex(two, path).acquireAsync();
            awaitNodes(2);
            held.close();
            waiting.get(120, TimeUnit.SECONDS).close();
        }
        await().until(() -> !seen.isEmpty());
        assertThat(seen).containsExactly(Watcher.Event.EventType.NodeDeleted);
    }
}
