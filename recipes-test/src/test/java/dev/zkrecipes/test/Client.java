// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** A connected client that remembers the states it went through. */
final class Client implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(20);
    private static final int SESSION_TIMEOUT_MILLIS = 15_000;

    private final List<KeeperState> states = new CopyOnWriteArrayList<>();
    private final ZooKeeper zooKeeper;

    private Client(String connectString, int timeoutMillis) {
        try {
            // Twice: with one address only, ZooKeeper's client waits a second longer before it connects again.
            zooKeeper = new ZooKeeper(connectString + "," + connectString, timeoutMillis, this::stateChanged);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Client connect(String connectString) {
        return connect(connectString, Duration.ofMillis(SESSION_TIMEOUT_MILLIS));
    }

    static Client connect(String connectString, Duration session) {
        Client client = new Client(connectString, (int) session.toMillis());
        client.awaitState(KeeperState.SyncConnected, 1);
        return client;
    }

    private void stateChanged(WatchedEvent event) {
        if (event.getType() == EventType.None) {
            states.add(event.getState());
        }
    }

    ZooKeeper zk() {
        return zooKeeper;
    }

    long session() {
        return zooKeeper.getSessionId();
    }

    List<KeeperState> states() {
        return List.copyOf(states);
    }

    /** Waits until the client has been in a state that many times. */
    void awaitState(KeeperState state, int times) {
        await().atMost(LIMIT)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> states.stream().filter(state::equals).count() >= times);
    }

    String create(String path) throws KeeperException, InterruptedException {
        return create(path, CreateMode.PERSISTENT);
    }

    String create(String path, CreateMode mode) throws KeeperException, InterruptedException {
        return zooKeeper.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, mode);
    }

    CompletableFuture<Code> createAsync(String path) {
        CompletableFuture<Code> result = new CompletableFuture<>();
        zooKeeper.create(
                path,
                new byte[0],
                Ids.OPEN_ACL_UNSAFE,
                CreateMode.PERSISTENT,
                (rc, requested, context, name) -> result.complete(Code.get(rc)),
                null);
        return result;
    }

    CompletableFuture<Code> existsAsync(String path) {
        CompletableFuture<Code> result = new CompletableFuture<>();
        zooKeeper.exists(path, false, (rc, requested, context, stat) -> result.complete(Code.get(rc)), null);
        return result;
    }

    CompletableFuture<EventType> watch(String path) throws KeeperException, InterruptedException {
        CompletableFuture<EventType> event = new CompletableFuture<>();
        Watcher watcher = seen -> {
            if (seen.getType() != EventType.None) {
                event.complete(seen.getType());
            }
        };
        zooKeeper.exists(path, watcher);
        return event;
    }

    static <T> T get(CompletableFuture<T> future) {
        assertThat(future).succeedsWithin(LIMIT.multipliedBy(6));
        return future.join();
    }

    @Override
    public void close() {
        try {
            zooKeeper.close((int) LIMIT.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
