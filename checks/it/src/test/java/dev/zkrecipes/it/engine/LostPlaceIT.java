// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/**
 * Somebody deletes the node of a waiter just before the holder in front of it releases, and the waiter hears of both
 * later. By then the next request has the lock.
 */
@Tag("H26")
class LostPlaceIT extends ServerStage {
    /** After a reconnect the server goes through the watches in any order, which is another one for each lock. */
    private static final int LOCKS = 8;

    private final List<String> paths;
    private FaultProxy proxy;
    private ZooKeeperClient holding;
    private ZooKeeperClient waiting; // behind the proxy
    private ZooKeeperClient next;

    private List<Lease> held;
    private List<CompletableFuture<Lease>> wanted;
    private List<CompletableFuture<Lease>> wantedNext;

    LostPlaceIT(EmbeddedZooKeeper server, TestInfo test) {
        String name = test.getTestMethod().orElseThrow().getName();
        this.paths =
                IntStream.range(0, LOCKS).mapToObj(i -> "/" + name + "/" + i).toList();
    }

    @BeforeEach
    void queueUp() throws InterruptedException {
        proxy = proxy();
        holding = client();
        waiting = client(proxy);
        next = client();
        held = acquire(holding).stream().map(Soon::get).toList();
        wanted = acquire(waiting);
        await().until(() ->
                paths.stream().allMatch(path -> server.children(path).size() == 2));
        wantedNext = acquire(next);
        // A waiter that is next in line asks for the watch on its own node first, and then for that on the holder's.
        await().until(() -> paths.stream()
                .allMatch(path -> !server.childWatchers(nodeOf(waiting, path)).isEmpty()
                        && !server.childWatchers(nodeOf(holding, path)).isEmpty()));
    }

    private List<CompletableFuture<Lease>> acquire(ZooKeeperClient client) {
        return paths.stream()
                .map(path -> new InterProcessMutex(client, path).acquireAsync())
                .toList();
    }

    private String nodeOf(ZooKeeperClient client, String path) {
        long session = client.zooKeeper().orElseThrow().getSessionId();
        return server.children(path).stream()
                .map(name -> path + "/" + name)
                .filter(node -> server.owner(node).orElse(0) == session)
                .findFirst()
                .orElseThrow();
    }

    /** The waiters' nodes first, then the holders': now the locks are those of the next in line. */
    private List<Lease> deleteAndGiveBack() {
        paths.forEach(path -> server.deleteNode(nodeOf(waiting, path)));
        held.forEach(Lease::close);
        return wantedNext.stream().map(Soon::get).toList();
    }

    private void assertQueuedAgain(List<Lease> holders) {
        await().until(() ->
                paths.stream().allMatch(path -> server.children(path).size() == 2)
                        || wanted.stream().anyMatch(CompletableFuture::isDone));
        assertThat(wanted).as("the locks are held").noneMatch(CompletableFuture::isDone);
        holders.forEach(Lease::close);
        wanted.forEach(Soon::get);
    }

    @Test
    void lateNewsOfBothDeletions_grantsNothing() {
        proxy.pauseReplies();
        List<Lease> holders = deleteAndGiveBack();
        proxy.resume();
        assertQueuedAgain(holders);
    }

    @Test
    void missedDeletionsAfterAReconnect_grantNothing() {
        proxy.refuse();
        await().until(() -> waiting.connectionState() == ConnectionState.SUSPENDED);
        List<Lease> holders = deleteAndGiveBack();
        proxy.accept();
        assertQueuedAgain(holders);
    }
}
