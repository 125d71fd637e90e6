// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/** A session that is connected from the beginning, with an event thread of its own. */
final class ServerSession implements ZooKeeperOperations {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** The last task of a session, after which its event thread ends. */
    private static final Runnable LAST = new Runnable() {
        @Override
        public void run() {}
    };

    private final Server server;
    private final long id;
    private final EngineScheduler scheduler;
    private final Consumer<State> states;
    private final Queue<Runnable> said = new ArrayDeque<>(); // tasks for the engine thread; guarded by itself
    private final List<Consumer<NodeEvent>> watching = new ArrayList<>(); // confined to the engine thread
    private boolean over; // guarded by the server

    ServerSession(Server server, long id, EngineScheduler scheduler, Consumer<State> states) {
        this.server = server;
        this.id = id;
        this.scheduler = scheduler;
        this.states = states;
    }

    void begin() {
        Thread events = new Thread(this::deliverAll, "events-" + id);
        events.setDaemon(true);
        events.start();
    }

    private void deliverAll() {
        for (Runnable next = next(); next != LAST; next = next()) {
            scheduler.execute(next);
        }
    }

    private Runnable next() {
        synchronized (said) {
            Runnable next = said.poll();
            while (next == null) {
                try {
                    said.wait();
                } catch (InterruptedException e) {
                    throw new IllegalStateException("nobody interrupts an event thread", e);
                }
                next = said.poll();
            }
            return next;
        }
    }

    private void say(Runnable what) {
        synchronized (said) {
            said.add(what);
            said.notifyAll();
        }
    }

    /** Ends the session at the server, and notifies the client. */
    void expire() {
        end(() -> states.accept(State.EXPIRED));
    }

    @Override
    public void close() {
        end(LAST);
    }

    private void end(Runnable told) {
        synchronized (server) {
            if (!over) {
                over = true;
                server.end(this);
                say(told);
                say(LAST);
            }
        }
    }

    void event(Consumer<NodeEvent> watch, NodeEvent event) {
        say(() -> {
            if (watching.remove(watch)) {
                watch.accept(event);
            }
        });
    }

    private <T> void ask(Consumer<Answer<T>> reply, Supplier<Answer<T>> request) {
        synchronized (server) {
            if (!over) {
                Answer<T> answer = server.answer(request);
                say(() -> reply.accept(answer));
            } else {
                scheduler.handOver(() -> reply.accept(Answer.failed(Code.SESSIONEXPIRED)));
            }
        }
    }

    private <T> void watch(
            String path,
            boolean ofChildren,
            Consumer<NodeEvent> watch,
            Consumer<Answer<T>> reply,
            Supplier<Answer<T>> request) {
        watching.add(watch);
        ask(
                answer -> {
                    if (!answer.isOk()) {
                        watching.remove(watch);
                    }
                    reply.accept(answer);
                },
                () -> {
                    if (server.names(path).isOk()) {
                        server.watch(this, path, ofChildren, watch);
                    }
                    return request.get();
                });
    }

    @Override
    public State initialState() {
        return State.CONNECTED;
    }

    @Override
    public long sessionId() {
        return id;
    }

    @Override
    public Duration sessionTimeout() {
        return TIMEOUT;
    }

    @Override
    public Optional<ZooKeeper> handle() {
        return Optional.empty();
    }

    @Override
    public void createEphemeralSequential(String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply) {
        ask(reply, () -> server.create(prefix, data, id, CreateMode.EPHEMERAL_SEQUENTIAL));
    }

    @Override
    public void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        ask(reply, () -> {
            Answer<Created> created = server.create(path, new byte[0], id, CreateMode.CONTAINER);
            return created.isOk() ? Answer.ok(path) : Answer.failed(created.code());
        });
    }

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        ask(reply, () -> server.list(path));
    }

    @Override
    public void read(String path, Consumer<Answer<Content>> reply) {
        ask(reply, () -> server.content(path));
    }

    @Override
    public void acl(String path, Consumer<Answer<Access>> reply) {
        ask(reply, () -> Answer.ok(new Access(ZooDefs.Ids.OPEN_ACL_UNSAFE, new Stat())));
    }

    @Override
    public void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
        watch(path, false, watch, reply, () -> server.content(path));
    }

    @Override
    public void watchChildren(String path, Consumer<NodeEvent> watch, Consumer<Answer<List<String>>> reply) {
        watch(path, true, watch, reply, () -> server.names(path));
    }

    @Override
    public void dropWatch(String path, Consumer<NodeEvent> watch) {
        watching.remove(watch);
    }

    @Override
    public void delete(String path, Consumer<Answer<String>> reply) {
        ask(reply, () -> server.delete(path, -1));
    }

    @Override
    public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        List<Op> all = List.copyOf(operations);
        ask(reply, () -> server.multi(id, all));
    }
}
