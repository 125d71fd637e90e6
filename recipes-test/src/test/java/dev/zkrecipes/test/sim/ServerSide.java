// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.sim;

import dev.zkrecipes.core.spi.ZooKeeperOperations;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.Soon;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** A real server and the sessions with it. */
final class ServerSide implements Side, AutoCloseable {
    private final EmbeddedZooKeeper server;
    private final List<HandleSession> sessions = new ArrayList<>();
    private long eventsSeen;

    ServerSide(EmbeddedZooKeeper server) {
        this.server = server;
    }

    @Override
    public ZooKeeperOperations open() {
        HandleSession session = HandleSession.connect(server.connectString());
        sessions.add(session);
        return session;
    }

    @Override
    public <T> T await(CompletableFuture<T> answer) {
        return Soon.get(answer);
    }

    /** What a server sends to a session arrives in order, so an answer that comes after the events shows all of them. */
    @Override
    public void settle() {
        long events = server.eventsSent();
        if (events != eventsSeen) {
            eventsSeen = events;
            sessions.removeIf(HandleSession::isClosed);
            List<CompletableFuture<?>> answers = new ArrayList<>();
            for (HandleSession session : sessions) {
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
    public Set<String> watched(String base, Set<String> candidates) {
        return candidates.stream()
                .filter(path -> !server.watchers(path).isEmpty())
                .collect(Collectors.toSet());
    }

    @Override
    public void close() {
        sessions.forEach(HandleSession::close);
    }
}
