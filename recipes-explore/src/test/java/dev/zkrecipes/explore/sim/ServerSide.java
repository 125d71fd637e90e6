// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import com.google.common.collect.ImmutableSet;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * A real server, and the engine's own port on handles. A handle whose session a sequence has not closed is kept for the
 * next sequence: making one takes longer than all else.
 */
final class ServerSide implements Side, AutoCloseable {
    private static final int TIMEOUT_MILLIS = 60_000;

    private final EmbeddedZooKeeper server;
    private final HandlePort port = new HandlePort();
    private final ExecutorService closer = Executors.newCachedThreadPool();
    private final Deque<ZooKeeperOperations> free = new ArrayDeque<>();
    private final List<ZooKeeperOperations> used = new ArrayList<>();
    private final List<Long> closing = new ArrayList<>();
    private final FaultProxy line;
    private @Nullable ZooKeeper first; // the only one that can leave
    private String base = "";
    private boolean away;
    private int opened;
    private long eventsSeen;

    ServerSide(EmbeddedZooKeeper server) {
        this.server = server;
        this.line = FaultProxy.to(server);
    }

    /** A sequence is over: its containers must not be removed in the next one. */
    void reuse() {
        remove(base);
        used.forEach(session -> {
            if (isFirst(session)) {
                free.addFirst(session);
            } else {
                free.addLast(session);
            }
        });
        used.clear();
        opened = 0;
    }

    private void remove(String path) {
        if (server.data(path).isPresent()) {
            server.children(path).forEach(name -> remove(path + "/" + name));
            server.deleteNode(path);
        }
    }

    private boolean isFirst(ZooKeeperOperations session) {
        return first != null && first.getSessionId() == session.sessionId();
    }

    @Override
    public void makeBase(String path, int counter) {
        base = path;
        server.createNode(path, new byte[0]);
        if (counter > 0) {
            server.setSequenceCounter(path, counter);
        }
    }

    @Override
    public ZooKeeperOperations open() {
        ZooKeeperOperations session;
        if (opened == 0 && first == null) {
            // A client that knows two addresses does not wait between them.
            first = connect(line.connectString() + "," + line.connectString());
            session = on(first);
        } else if (free.isEmpty() || opened >= RandomSteps.SESSIONS) { // a step that opens one is a transaction
            session = on(connect(server.connectString()));
        } else {
            session = free.remove();
        }
        used.add(session);
        opened++;
        return session;
    }

    private ZooKeeperOperations on(ZooKeeper handle) {
        return port.on(handle, () -> close(handle));
    }

    private static ZooKeeper connect(String address) {
        CompletableFuture<KeeperState> connected = new CompletableFuture<>();
        try {
            ZooKeeper handle = new ZooKeeper(address, TIMEOUT_MILLIS, event -> connected.complete(event.getState()));
            Soon.get(connected);
            return handle;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The handle stays a while after its session has ended. */
    private void close(ZooKeeper handle) {
        long session = handle.getSessionId();
        if (handle == first) {
            first = null;
        }
        used.removeIf(port -> port.sessionId() == session);
        closing.add(session);
        closer.execute(() -> {
            try {
                handle.close();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
    }

    /** The client tries to come back in up to a second, and then waits for the answer to its greeting. */
    @Override
    public void leave() {
        away = true;
        line.pause();
        line.cut();
        Soon.await().until(() -> !firstIsConnected());
    }

    /** A server sends a reconnected client what it missed before it answers anything else. */
    @Override
    public void comeBack() {
        away = false;
        line.resume();
        Soon.await().until(this::firstIsConnected);
        CompletableFuture<Object> answered = new CompletableFuture<>();
        used.stream().filter(this::isFirst).forEach(session -> session.read("/", answered::complete));
        Soon.get(answered);
    }

    @Override
    public void reapContainers() {
        server.reapContainers();
    }

    private boolean firstIsConnected() {
        return first != null && first.getState().isConnected();
    }

    @Override
    public <T> T await(CompletableFuture<T> answer) {
        return Soon.get(answer);
    }

    /** What a server sends to a session arrives in order, so an answer that comes after the events shows all of them. */
    @Override
    public void settle() {
        if (!closing.isEmpty()) {
            Soon.await().until(() -> closing.stream().noneMatch(server.sessions()::contains));
        }
        long events = server.eventsSent();
        // A server forgets a session just before it deletes its nodes.
        if (events != eventsSeen || !closing.isEmpty()) {
            closing.clear();
            eventsSeen = events;
            List<CompletableFuture<?>> answers = new ArrayList<>();
            for (ZooKeeperOperations session : used) {
                if (away && isFirst(session)) {
                    continue;
                }
                CompletableFuture<Object> answered = new CompletableFuture<>();
                session.read("/", answered::complete);
                answers.add(answered);
            }
            answers.forEach(Soon::get);
        }
    }

    @Override
    public long lastZxid() {
        return server.lastZxid();
    }

    @Override
    public Set<String> watched(Set<String> candidates) {
        return candidates.stream()
                .filter(path -> !server.watchers(path).isEmpty())
                .collect(ImmutableSet.toImmutableSet());
    }

    @Override
    public Set<String> watchedForDeletion(Set<String> candidates) {
        return candidates.stream()
                .filter(path -> !server.childWatchers(path).isEmpty())
                .collect(ImmutableSet.toImmutableSet());
    }

    @Override
    public void close() {
        free.forEach(ZooKeeperOperations::close);
        settle();
        closer.shutdown();
        line.close();
        port.close();
    }
}
