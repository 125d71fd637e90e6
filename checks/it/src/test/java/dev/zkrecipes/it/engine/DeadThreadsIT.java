// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.LeakCheck;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A thread of ZooKeeper's client dies, as it does when there is no memory for the log of an error either. The handle stays
 * CONNECTED and answers nothing.
 */
@Tag("H119")
@Tag("alone")
class DeadThreadsIT extends ServerStage {
    private static final Duration SESSION = Duration.ofSeconds(4);

    /** Kills the thread that wants to log it. */
    private static final class Death extends Error {
        private static final long serialVersionUID = 1;

        @Override
        public void printStackTrace(PrintStream stream) {
            throw new Death();
        }
    }

    /** Kills the thread that looks for it among the watchers. */
    @SuppressWarnings("EqualsHashCode") // two of them are never compared
    private static final class Deadly implements Watcher {
        @Override
        public void process(WatchedEvent event) {}

        @Override
        public int hashCode() {
            throw new Death();
        }
    }

    @Test
    void deadEventThread_costsTheHandle_andNobodyIsBlockedForLong() throws Exception {
        ZooKeeperClient client = client(SESSION);
        ZooKeeperClient other = client(SESSION);
        Lease held = Soon.get(new InterProcessMutex(client, "/event").acquireAsync());
        CompletableFuture<Lease> waiting = new InterProcessMutex(other, "/event").acquireAsync();
        await().until(() -> server.children("/event").size() == 2);
        ZooKeeper handle = client.zooKeeper().orElseThrow();
        handle.exists(
                "/",
                false,
                (rc, path, context, stat) -> {
                    throw new Death();
                },
                null);
        await().until(() -> held.state() == LeaseState.LOST);
        Soon.get(Soon.get(waiting).closeAsync());
        held.close();
        Soon.get(
                Soon.get(new InterProcessMutex(client, "/event").acquireAsync()).closeAsync());
        assertThat(client.zooKeeper()).get().isNotSameAs(handle);
        await().until(() -> !handle.getState().isAlive());
    }

    @Test
    void deadSendingThread_costsTheHandle_andTheNextRequestGoesThrough() throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeperClient client = opened(TestClients.connect(proxy.connectString(), SESSION));
        ZooKeeper handle = client.zooKeeper().orElseThrow();
        long session = handle.getSessionId();
        killSendingThread(handle, proxy);
        assertThat(handle.getState()).isEqualTo(ZooKeeper.States.CONNECTED);
        Soon.get(Soon.get(new InterProcessMutex(client, "/sending").acquireAsync())
                .closeAsync());
        assertThat(client.zooKeeper().orElseThrow().getSessionId()).isNotEqualTo(session);
        await().until(() -> !handle.getState().isAlive());
    }

    private static void killSendingThread(ZooKeeper handle, FaultProxy proxy) throws Exception {
        Thread sending = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().contains("SendThread(" + proxy.connectString()))
                .findFirst()
                .orElseThrow();
        handle.exists("/", event -> {}); // so that there is something to look for the other one in
        Held reply = proxy.holdReply(RequestType.CHECK_WATCHES, 1);
        handle.removeWatches("/", new Deadly(), Watcher.WatcherType.Any, false, (rc, path, context) -> {}, null);
        reply.awaitReached(Duration.ofSeconds(120));
        proxy.cut();
        await().until(() -> !sending.isAlive());
    }

    @Test
    void clientThatEndsItself_leavesNoThreadOfItsHandle_ifOneHasDied() throws Exception {
        LeakCheck threads = LeakCheck.start().onlyNamed("zkrecipes-");
        FaultProxy proxy = proxy();
        ZooKeeperClient client = TestClients.connect(proxy.connectString(), SESSION);
        killSendingThread(client.zooKeeper().orElseThrow(), proxy);
        EngineClient.of(client).scheduler().execute(() -> {
            throw new Death();
        });
        await().until(() -> client.connectionState() == ConnectionState.CLOSED);
        threads.assertNoNewThreads(Duration.ofSeconds(120));
    }
}
