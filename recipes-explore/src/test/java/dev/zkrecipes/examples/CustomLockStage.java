// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/**
 * The setting for the tests of a lock of one's own: two clients with an object each, on a path that no other test uses.
 *
 * @param <L> the lock
 */
@Timeout(600)
@WithZooKeeper
abstract class CustomLockStage<L> {
    private static final byte[] NOTHING = {};

    final EmbeddedZooKeeper server;
    final String path;
    private final BiFunction<ZooKeeperClient, String, L> maker;
    Clients clients;
    L mine;
    L yours;

    CustomLockStage(EmbeddedZooKeeper server, TestInfo test, BiFunction<ZooKeeperClient, String, L> maker) {
        this.server = server;
        this.path = "/" + test.getTestMethod().orElseThrow().getName();
        this.maker = maker;
    }

    @BeforeEach
    void connect() throws InterruptedException {
        clients = Clients.connect(server, 2);
        mine = maker.apply(clients.get(0), path);
        yours = maker.apply(clients.get(1), path);
    }

    @AfterEach
    void close() {
        clients.close();
    }

    /** A lease that belongs to no thread: a thread holds a path by one request at a time. */
    static Lease granted(InterProcessLock lock) throws Exception {
        return lock.acquireAsync().get(120, TimeUnit.SECONDS);
    }

    /** Waits until that many nodes are in the queue, and that many of them are watched by somebody who waits for them. */
    void awaitQueue(int nodes, int waitedFor) {
        await().until(() -> {
            List<String> queue = server.children(path);
            return queue.size() == nodes
                    && queue.stream()
                                    .filter(name -> isWaitedFor(path + "/" + name))
                                    .count()
                            == waitedFor;
        });
    }

    private boolean isWaitedFor(String node) {
        long owner = server.owner(node).orElse(0);
        return server.childWatchers(node).stream().anyMatch(session -> session != owner);
    }

    void assertRefusedBeforeAnythingIsSent(Runnable making, String message) {
        long requests = server.requests().total();
        assertThatThrownBy(making::run)
                .isExactlyInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
        assertThat(server.requests().total()).isEqualTo(requests);
    }

    void assertForeign(String name, InterProcessLock lock) throws Exception {
        server.createNode(path, NOTHING);
        clients.get(1)
                .zooKeeper()
                .orElseThrow()
                .create(path + "/" + name, NOTHING, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        assertThatThrownBy(lock::acquire)
                .isExactlyInstanceOf(IncompatibleNodeException.class)
                .hasMessageContaining(name);
        server.deleteNode(path + "/" + name);
        await().until(() -> server.children(path).isEmpty());
        server.deleteNode(path);
    }

    /** A holder of the first payload and a waiter of the second one, as any lock object of the path shows them. */
    void assertParticipants(
            InterProcessLock holder, InterProcessLock waiter, InterProcessLock asked, String first, String second)
            throws Exception {
        Lease held = holder.acquire();
        CompletableFuture<Lease> wanted = waiter.acquireAsync();
        awaitQueue(2, 1);
        assertThat(asked.participants()).extracting(Participant::payload).containsExactly(first, second);
        assertThat(asked.participants()).extracting(Participant::holding).containsExactly(true, false);
        held.close();
        wanted.get(120, TimeUnit.SECONDS).close();
    }
}
