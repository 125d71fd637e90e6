// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** P2, P6: no waiter is forgotten, whatever happens to requests, replies, events and nodes. */
class MutexQueueIT extends ServerStage {
    private String otherThan(String holder) {
        return await().until(
                        () -> server.children(path).stream()
                                .filter(child -> !child.equals(holder))
                                .findFirst(),
                        Optional::isPresent)
                .orElseThrow();
    }

    @Test
    @Tag("H38")
    void predecessorWithChangedData_isStillWatched_andWakesNoWaiter() throws Exception {
        ZooKeeperClient client = client();
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        Lease held = mutex.acquire();
        String holder = path + "/" + server.children(path).get(0);
        CompletableFuture<Lease> wanted = mutex.acquireAsync();
        await().until(() -> !server.childWatchers(holder).isEmpty());
        long events = server.eventsSent();
        for (int change = 0; change < 3; change++) {
            server.setData(holder, new byte[] {1});
        }
        assertThat(server.eventsSent()).isEqualTo(events);
        assertThat(server.childWatchers(holder)).hasSize(1);
        held.close();
        wanted.get(120, TimeUnit.SECONDS).close();
    }

    @Test
    @Tag("H38")
    void predecessorWithNodesBelowIt_isStillWatched() throws Exception {
        ZooKeeperClient client = client();
        String holder = path + "/ffffffffffffffffffffffffffffffff-lock-0000000000"; // made by hand: it may have some
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        mutex.acquire().close(); // makes the path
        server.createNode(holder, new byte[0]);
        CompletableFuture<Lease> wanted = mutex.acquireAsync();
        for (int change = 0; change < 3; change++) {
            String below = holder + "/" + change;
            spendAndAwaitAnother(holder, () -> server.createNode(below, new byte[0]));
            spendAndAwaitAnother(holder, () -> server.deleteNode(below));
        }
        assertThat(wanted).isNotDone();
        server.deleteNode(holder);
        wanted.get(120, TimeUnit.SECONDS).close();
    }

    private void spendAndAwaitAnother(String node, ThrowingRunnable spend) throws Exception {
        await().until(() -> !server.childWatchers(node).isEmpty());
        long reads = server.requests().of(RequestType.GET_CHILDREN);
        spend.run();
        await().until(() -> server.requests().of(RequestType.GET_CHILDREN) > reads);
        await().until(() -> !server.childWatchers(node).isEmpty());
    }

    @FunctionalInterface
    private interface ThrowingRunnable {
        void run() throws Exception;
    }

    @Test
    @Tag("H29")
    void watchRemovedByTheHandlesOwner_isSetAgain() throws Exception {
        ZooKeeperClient client = client();
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        Lease held = mutex.acquire();
        String holder = server.children(path).get(0);
        CompletableFuture<Lease> wanted = mutex.acquireAsync();
        for (String watched : List.of(otherThan(holder), holder)) {
            String node = path + "/" + watched;
            spendAndAwaitAnother(
                    node,
                    () -> client.zooKeeper().orElseThrow().removeAllWatches(node, Watcher.WatcherType.Any, false));
        }
        held.close();
        wanted.get(120, TimeUnit.SECONDS).close();
    }
}
