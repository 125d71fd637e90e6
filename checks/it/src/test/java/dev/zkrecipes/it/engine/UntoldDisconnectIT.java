// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * ZooKeeper's client tells nobody that the connection is lost if a {@code removeWatches} with {@code local = true} is
 * lost with it.
 */
class UntoldDisconnectIT extends ServerStage {
    private static final Duration LIMIT = Duration.ofSeconds(120);
    private ZooKeeperClient other;
    private Lease heldByOther;

    @BeforeEach
    void hold() throws Exception {
        other = client();
        heldByOther = new InterProcessMutex(other, path).acquire();
    }

    /** Gives up a wait, and with it the watch on the holder's node, which stays. */
    private void giveUpAWait(ZooKeeperClient client) throws InterruptedException {
        InterProcessMutex lock = new InterProcessMutex(client, path);
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        await().until(() -> !server.childWatchers(heldByOther.guard().getPath()).isEmpty());
        assertThat(lock.participants())
                .hasSize(2); // answered behind the watch, which is thus on the handle: else none is dropped
        waiting.cancel(false);
    }

    private static ZooKeeper handle(FaultProxy proxy, List<KeeperState> told) throws IOException {
        ZooKeeper handle = new ZooKeeper(
                proxy.connectString(), (int) TestClients.LONG_SESSION.toMillis(), event -> told.add(event.getState()));
        await().until(() -> told.contains(KeeperState.SyncConnected));
        return handle;
    }

    @Test
    void ownClient_learnsOfTheLoss_andDropsTheWatchOnTheNextConnection() throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeperClient client = client(proxy);
        Held dropping = proxy.holdRequest(RequestType.CHECK_WATCHES, 1);
        giveUpAWait(client);
        dropping.awaitReached(LIMIT);
        long before = proxy.requestsSeen().of(RequestType.CHECK_WATCHES);
        proxy.refuse();
        await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
        proxy.accept();
        await().until(() -> client.connectionState() == ConnectionState.CONNECTED);
        await().until(() -> proxy.requestsSeen().of(RequestType.CHECK_WATCHES) == before + 1);
    }

    @Test
    void applicationsHandle_tellsTheApplication() throws Exception {
        List<KeeperState> told = new CopyOnWriteArrayList<>();
        FaultProxy proxy = proxy();
        ZooKeeper handle = opened(handle(proxy, told));
        ZooKeeperClient client = opened(ZooKeeperClient.wrap(handle));
        assertThat(client.awaitConnected(LIMIT)).isTrue();
        Held dropping = proxy.holdRequest(RequestType.CHECK_WATCHES, 1);
        giveUpAWait(client);
        dropping.awaitReached(LIMIT);
        proxy.refuse();
        await().until(() -> told.contains(KeeperState.Disconnected));
        await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
    }

    @Test
    void clientThatIsClosed_leavesTheApplicationItsEvents() throws Exception {
        List<KeeperState> told = new CopyOnWriteArrayList<>();
        FaultProxy proxy = proxy();
        ZooKeeper handle = opened(handle(proxy, told));
        ZooKeeperClient client = ZooKeeperClient.wrap(handle);
        new InterProcessMutex(client, path + "-own").acquire().close(); // so that its watch for session events is set
        Held dropping = proxy.holdRequest(RequestType.REMOVE_WATCHES, 1);
        client.close();
        dropping.awaitReached(LIMIT);
        proxy.refuse();
        await().until(() -> told.contains(KeeperState.Disconnected));
    }

    @Test
    void removalByTheApplication_doesNotHideTheLossOfTheConnection() throws Exception {
        List<KeeperState> told = new CopyOnWriteArrayList<>();
        List<ConnectionState> states = new CopyOnWriteArrayList<>();
        FaultProxy proxy = proxy();
        ZooKeeper handle = opened(handle(proxy, told));
        ZooKeeperClient client = opened(ZooKeeperClient.wrap(handle));
        assertThat(client.awaitConnected(LIMIT)).isTrue();
        client.addConnectionListener(states::add);

        loseARemoval(handle, proxy);
        await().until(() -> handle.getState() == ZooKeeper.States.CONNECTING);
        proxy.accept();
        await().until(() -> states.equals(List.of(ConnectionState.SUSPENDED, ConnectionState.CONNECTED)));
        assertThat(told).doesNotContain(KeeperState.Disconnected); // which is why all this is needed

        Lease held = new InterProcessMutex(client, path + "-own").acquire();
        loseARemoval(handle, proxy);
        CompletableFuture<Lease> asked = new InterProcessMutex(client, path + "-other").acquireAsync();
        await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
        assertThat(held.isValid()).isFalse();
        proxy.accept();
        await().until(held::isValid);
        Soon.get(asked).close();
        held.close();
        assertThat(told).doesNotContain(KeeperState.Disconnected);
    }

    private static void loseARemoval(ZooKeeper handle, FaultProxy proxy) throws Exception {
        Watcher watch = event -> {};
        assertThat(handle.exists("/", watch)).isNotNull();
        Held removing = proxy.holdRequest(RequestType.CHECK_WATCHES, 1);
        handle.removeWatches("/", watch, Watcher.WatcherType.Any, true, (rc, asked, ctx) -> {}, null);
        removing.awaitReached(LIMIT);
        proxy.refuse();
    }
}
