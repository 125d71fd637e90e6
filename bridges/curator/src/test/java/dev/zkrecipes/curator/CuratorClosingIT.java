// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.listen.StandardListenerManager;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A client over a CuratorFramework ends with it, whichever is closed first. */
class CuratorClosingIT extends ServerStage {
    private static final String PATH = "/closing";
    private CuratorFramework curator;
    private ZooKeeperClient client;

    @BeforeEach
    void open() throws InterruptedException {
        open(server);
    }

    private void open(EmbeddedZooKeeper to) throws InterruptedException {
        curator = opened(CuratorFrameworkFactory.newClient(to.connectString(), 30_000, 5000, new RetryOneTime(100)));
        curator.start();
        client = opened(CuratorClients.over(curator));
        assertThat(client.awaitConnected(Duration.ofSeconds(120))).isTrue();
    }

    private int listeners() {
        return ((StandardListenerManager<?>) curator.getCuratorListenable()).size();
    }

    @Test
    void frameworkClosedFirst_endsWaitersAtOnce_andReleasesHeldLocks() throws Exception {
        Lease held = new InterProcessMutex(client, PATH + "/held").acquire();
        try (ZooKeeperClient other = client();
                Workers workers = new Workers()) {
            Lease busy = new InterProcessMutex(other, PATH).acquire();
            CompletableFuture<Lease> waiting = new InterProcessMutex(client, PATH).acquireAsync();
            workers.start(
                    "blocked",
                    () -> assertThatThrownBy(new InterProcessMutex(client, PATH)::acquire)
                            .isInstanceOf(ClientClosedException.class));
            Soon.await()
                    .until(() -> server.children(PATH).stream()
                                    .filter(name -> name.contains("-lock-"))
                                    .count()
                            == 3);
            long before = server.requests().of(RequestType.DELETE);
            curator.close();

            assertThat(client.connectionState()).as("it was closed before").isEqualTo(ConnectionState.CLOSED);
            assertThat(held.state()).isEqualTo(LeaseState.LOST);
            assertThatThrownBy(() -> new InterProcessMutex(client, PATH))
                    .isInstanceOf(ClientClosedException.class)
                    .hasMessageContaining(PATH);
            assertThat(waiting)
                    .failsWithin(Duration.ofSeconds(120))
                    .withThrowableThat()
                    .withCauseExactlyInstanceOf(ClientClosedException.class);
            workers.join(Duration.ofSeconds(120));
            assertThat(server.requests().of(RequestType.DELETE) - before)
                    .as("the nodes did not wait for the end of the session")
                    .isEqualTo(3);
            busy.verify();
            busy.close();
        }
        held.close();
    }

    @Test
    void frameworkClosedWithoutAConnection_endsWaitersToo() throws Exception {
        EmbeddedZooKeeper gone = opened(EmbeddedZooKeeper.start());
        open(gone);
        Lease held = new InterProcessMutex(client, PATH).acquire();
        CompletableFuture<Lease> waiting = new InterProcessMutex(client, PATH).acquireAsync();
        Soon.await().until(() -> gone.children(PATH).size() == 2);
        gone.stop();
        curator.close();
        assertThat(waiting)
                .failsWithin(Duration.ofSeconds(120))
                .withThrowableThat()
                .withCauseExactlyInstanceOf(ClientClosedException.class);
        assertThat(held.state()).isEqualTo(LeaseState.LOST);
    }

    @Test
    void clientClosedFirst_leavesTheFrameworkOpen_andNoListenerInIt() throws Exception {
        assertThat(listeners()).isEqualTo(1);
        new InterProcessMutex(client, PATH).acquire();
        client.close();
        assertThat(curator.checkExists().forPath("/")).isNotNull();
        Soon.await().until(() -> listeners() == 0);
        var theirs = new org.apache.curator.framework.recipes.locks.InterProcessMutex(curator, PATH);
        assertThat(theirs.acquire(120, TimeUnit.SECONDS)).isTrue();
        theirs.release();
        curator.close();
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CLOSED);
    }

    @Test
    void closingTwice_inEitherOrder_doesNothingMore() {
        curator.close();
        client.close();
        curator.close();
        client.close();
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CLOSED);
        assertThatThrownBy(() -> new InterProcessMutex(client, PATH)).isInstanceOf(ClientClosedException.class);
    }

    /** Curator tells its listeners of what it did in the background on the thread that feeds its locks and ours. */
    @Test
    void frameworkClosedOnItsEventThread_doesNotWaitForItself() throws Exception {
        Lease held = new InterProcessMutex(client, PATH).acquire();
        CompletableFuture<Void> closed = new CompletableFuture<>();
        CuratorFramework closing = curator;
        CuratorHandle.of(closing)
                .exists(
                        "/",
                        false,
                        (rc, path, context, stat) -> {
                            closing.close();
                            closed.complete(null);
                        },
                        null);
        Future<Void> done = closed;
        try {
            done.get(120, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        }
        assertThat(held.ended()).succeedsWithin(Duration.ofSeconds(120)).isEqualTo(LeaseState.LOST);
        Soon.await().until(() -> server.children(PATH).isEmpty());
    }
}
