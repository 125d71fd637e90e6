// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.zk.HandleWatches.Stub;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.zookeeper.AsyncCallback.VoidCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** The operations on a real handle: sends them as they are and brings the answers to the engine thread. */
public final class HandleOperations implements ZooKeeperOperations {
    private static final int OK = Code.OK.intValue();
    /** More contended semaphores than a process has as a rule. */
    private static final int MOST_FORGOTTEN = 1_000;

    private final ZooKeeper handle;
    private final State initialState;
    private final HandleStates states;
    private final EngineScheduler scheduler;
    private final BooleanSupplier mayRunHere;
    private final Runnable closing;
    private final HandleWatches watches;
    private final boolean isOwn;
    /** Where a data watch may be left at the server, and none is here. */
    private final Set<String> forgotten = new HashSet<>();
    /** Watches that could not be dropped because the connection was lost. */
    private List<Runnable> toDrop = new ArrayList<>();

    /**
     * Begins in the current state. The event thread of a handle that {@code isOwn} may run tasks of the engine; when
     * the handle ends, requests are answered on other threads of ZooKeeper's, which have to go on.
     */
    public HandleOperations(
            ZooKeeper handle, HandleStates states, EngineScheduler scheduler, boolean isOwn, Runnable closing) {
        this(handle, states, scheduler, isOwn ? Blocking::isEventThread : () -> false, isOwn, closing);
    }

    /** {@code mayRunHere}: whether the thread that brings an answer or an event may run tasks of the engine. */
    HandleOperations(
            ZooKeeper handle,
            HandleStates states,
            EngineScheduler scheduler,
            BooleanSupplier mayRunHere,
            boolean isOwn,
            Runnable closing) {
        this.initialState = states.current();
        this.states = states;
        this.handle = handle;
        this.scheduler = scheduler;
        this.mayRunHere = mayRunHere;
        this.closing = closing;
        this.isOwn = isOwn;
        this.watches = new HandleWatches(this::onEngine);
        states.whenConnected(this::dropAgain);
        states.whileDisconnected(this::lookForAConnection);
    }

    @Override
    public State initialState() {
        return initialState;
    }

    @Override
    public long sessionId() {
        return handle.getSessionId();
    }

    @Override
    public Duration sessionTimeout() {
        return Duration.ofMillis(handle.getSessionTimeout());
    }

    @Override
    public Optional<ZooKeeper> handle() {
        return Optional.of(handle);
    }

    @Override
    public void createEphemeralSequential(String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply) {
        handle.create(
                prefix,
                data,
                acl,
                CreateMode.EPHEMERAL_SEQUENTIAL,
                (int rc, String path, Object ctx, String name, Stat stat) ->
                        deliver(reply, answer(rc, name != null && stat != null ? new Created(name, stat) : null)),
                null);
    }

    @Override
    public void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        handle.create(
                path,
                new byte[0],
                acl,
                CreateMode.CONTAINER,
                (int rc, String asked, Object ctx, String name) -> deliver(reply, answer(rc, path)),
                null);
    }

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        handle.getChildren(
                path,
                false,
                (int rc, String asked, Object ctx, List<String> names, Stat stat) ->
                        deliver(reply, answer(rc, names != null && stat != null ? new Children(names, stat) : null)),
                null);
    }

    @Override
    public void read(String path, Consumer<Answer<Content>> reply) {
        handle.getData(
                path, false, (rc, asked, ctx, data, stat) -> deliver(reply, answer(rc, content(data, stat))), null);
    }

    @Override
    public void acl(String path, Consumer<Answer<Access>> reply) {
        handle.getACL(
                path,
                new Stat(),
                (rc, asked, ctx, acl, stat) ->
                        deliver(reply, answer(rc, acl != null && stat != null ? new Access(acl, stat) : null)),
                null);
    }

    @Override
    public void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
        handle.getData(
                path,
                watches.feeding(watch, isOwn),
                (rc, asked, ctx, data, stat) -> deliver(watches.noting(watch, reply), answer(rc, content(data, stat))),
                null);
    }

    /** A watch on the children: a lock node has none, so only its deletion spends it. */
    @Override
    public void watchDeletion(String path, Consumer<NodeEvent> watch, Consumer<Answer<String>> reply) {
        handle.getChildren(
                path,
                watches.feeding(watch, false),
                (rc, asked, ctx, names) -> deliver(watches.noting(watch, reply), answer(rc, path)),
                null);
    }

    @Override
    public void dropWatch(String path, Consumer<NodeEvent> watch) {
        Stub stub = watches.dropped(watch);
        if (stub != null) {
            drop(path, stub);
        }
    }

    /**
     * Removes the client's side of a watch that is silent already. Not with {@code local = true}, which would hide a
     * loss of the request from everybody: see {@link HandleStates}. If the server has no such watch, as it has told
     * nobody of the event that spent it, the client removes its side only if it is told so.
     *
     * <p>The server keeps its side, as others may watch the node on this handle. But the data of paths that never go
     * are watched, too: beyond so many, the same request removes all data watches of the handle there.
     */
    private void drop(String path, Stub stub) {
        VoidCallback reply = (rc, asked, ctx) -> {
            if (Answer.codeOf(rc) == Code.CONNECTIONLOSS) {
                scheduler.handOver(() -> {
                    toDrop.add(() -> drop(path, stub));
                    states.onLoss();
                });
            } else if (Answer.codeOf(rc) == Code.NOWATCHER) {
                handle.removeWatches(path, stub, WatcherType.Any, true, (code, same, none) -> {}, null);
            }
        };
        if (stub.mayStayForEver && forgotten.size() < MOST_FORGOTTEN) {
            forgotten.add(path);
        }
        if (stub.mayStayForEver && !forgotten.contains(path)) {
            handle.removeAllWatches(path, WatcherType.Data, false, reply, null);
        } else {
            handle.removeWatches(path, stub, WatcherType.Any, false, reply, null);
        }
    }

    /** Asks the server whether it is there, if the handle says so. */
    private void lookForAConnection() {
        if (handle.getState().isConnected()) {
            handle.exists("/", false, (rc, asked, ctx, stat) -> onEngine(() -> onLooked(rc)), null);
        }
    }

    private void onLooked(int rc) {
        ZooKeeper.States now = handle.getState();
        if ((rc == OK || rc == Code.NONODE.intValue()) && now.isConnected()) {
            states.onContact(now == ZooKeeper.States.CONNECTEDREADONLY ? State.READ_ONLY : State.CONNECTED);
        }
    }

    private void dropAgain() {
        forgotten.clear(); // the new connection has the watches that the client knows
        List<Runnable> drops = toDrop;
        toDrop = new ArrayList<>();
        drops.forEach(Runnable::run);
    }

    @Override
    public void delete(String path, Consumer<Answer<String>> reply) {
        handle.delete(path, -1, (rc, asked, ctx) -> deliver(reply, answer(rc, path)), null);
    }

    @Override
    public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        handle.multi(
                operations, (rc, asked, ctx, results) -> deliver(reply, ofMulti(rc, results, operations.size())), null);
    }

    @Override
    public void close() {
        watches.clear();
        closing.run();
    }

    /**
     * The answer to one request. If ZooKeeper's client fails to read what the server has sent, such as for want of
     * memory, it hands out as much as it has read as if it were all, and drops the connection. The first fields are
     * read first.
     */
    private static <T> Answer<T> answer(int rc, @Nullable T value) {
        if (rc != OK) {
            return Answer.failed(Answer.codeOf(rc));
        }
        return value != null ? Answer.ok(value) : Answer.failed(Code.CONNECTIONLOSS);
    }

    /** The answer to several operations, some of whose results may be missing. */
    private static Answer<List<OpResult>> ofMulti(int rc, @Nullable List<OpResult> results, int operations) {
        boolean isWhole = results == null ? rc != OK : results.size() == operations;
        return isWhole ? new Answer<>(Answer.codeOf(rc), results) : Answer.failed(Code.CONNECTIONLOSS);
    }

    private <T> void deliver(Consumer<Answer<T>> reply, Answer<T> answer) {
        Code code = answer.code();
        if (code == Code.CONNECTIONLOSS) { // others are lost, too: what follows is to be done once for all
            scheduler.handOver(() -> {
                states.onLoss();
                // Lost with the connection on which another one was refused.
                reply.accept(states.current() == State.AUTH_FAILED ? Answer.failed(Code.AUTHFAILED) : answer);
            });
        } else if (code == Code.AUTHFAILED) {
            onEngine(() -> {
                onAuthFailed();
                reply.accept(answer);
            });
        } else if (mayRunHere.getAsBoolean()) {
            scheduler.execute(() -> reply.accept(answer));
        } else {
            scheduler.handOver(() -> reply.accept(answer));
        }
    }

    private void onEngine(Runnable task) {
        if (mayRunHere.getAsBoolean()) {
            scheduler.execute(task);
        } else {
            scheduler.handOver(task);
        }
    }

    /** A server that requires an authentication closes the connection, not the session, for each request. */
    private void onAuthFailed() {
        if (!states.current().isFinal()) {
            states.become(State.AUTH_FAILED);
            watches.clear();
            scheduler.executeBlocking(closing);
        }
    }

    /** ZooKeeper hands out null for a node that was made without data. */
    private static @Nullable Content content(byte @Nullable [] data, @Nullable Stat stat) {
        return stat == null ? null : new Content(data == null ? new byte[0] : data, stat);
    }
}
