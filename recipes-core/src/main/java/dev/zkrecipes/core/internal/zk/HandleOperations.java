// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

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

/**
 * The operations on a real ZooKeeper handle. Sends requests unchanged, and delivers answers and watch events on the
 * engine thread in the order in which the server sent them.
 *
 * <p>ZooKeeper's event thread delivers all answers and events. If the handle belongs to this client, that thread may
 * run engine tasks itself, which saves a thread switch. If the handle belongs to the application, so does its event
 * thread, and the engine must not keep it busy.
 */
public final class HandleOperations implements ZooKeeperOperations {
    private static final int OK = Code.OK.intValue(); // as ZooKeeper's callbacks report it
    /**
     * The maximum number of paths on which this client leaves abandoned data watches at the server, on a handle of its
     * own. A process usually has fewer contended semaphores than that.
     */
    private static final int MOST_FORGOTTEN = 1_000;

    private final ZooKeeper handle;
    private final HandleStates states;
    private final EngineScheduler scheduler;
    private final BooleanSupplier mayRunHere; // whether the calling thread may run engine tasks
    private final Runnable closing; // closes the handle, or leaves it to the application
    private final HandleWatches watches;
    private final boolean isOwn; // whether this library opened the handle
    /**
     * Paths on which the server may still have a data watch of this connection although nobody here listens to it any
     * more.
     */
    private final Set<String> forgotten = new HashSet<>();
    /**
     * Retries for watches that could not be dropped because the connection was lost. They run on the next connection.
     */
    private List<Runnable> toDrop = new ArrayList<>();

    /**
     * Starts in the current state of {@code states}. {@code isOwn} says whether this library opened the handle.
     * {@code mayRunHere} says whether the thread that delivers an answer or an event may run engine tasks.
     */
    public HandleOperations(
            ZooKeeper handle,
            HandleStates states,
            EngineScheduler scheduler,
            BooleanSupplier mayRunHere,
            boolean isOwn,
            Runnable closing) {
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
        return states.current(); // called in the task that opens the session, during which the state cannot change
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

    /**
     * Sets a watch on the children of the node. A lock node has no children, so only its deletion can fire that watch.
     * A data watch would also fire for each request to revoke the lock.
     */
    @Override
    public void watchChildren(String path, Consumer<NodeEvent> watch, Consumer<Answer<List<String>>> reply) {
        handle.getChildren(
                path,
                watches.feeding(watch, false),
                (rc, asked, ctx, names) -> deliver(watches.noting(watch, reply), answer(rc, names)),
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
     * Removes a silenced watch from the handle. The request goes to the server: with {@code local = true}, the handle
     * would forget the watch even if the request was lost, but it would then report the loss of the connection to
     * nobody; see {@link HandleStates}. The server may have fired the watch for an event that never arrived here. It
     * then answers NOWATCHER, and only a local removal makes the handle forget the watch.
     *
     * <p>The request leaves the watch at the server, because others may watch the same node through this handle. The
     * server removes it when the node is deleted. The nodes of semaphores' paths are never deleted, so their data
     * watches would accumulate. So on a handle of our own, once {@link #MOST_FORGOTTEN} paths have such a watch, the
     * request removes all data watches of the handle on the path, at the server as well.
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

    /**
     * Finds out whether there is a connection when no event has reported one. The handle's own state is not enough, so
     * a server must answer a request.
     */
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

    /** Drops the watches that could not be dropped on the previous connection. */
    private void dropAgain() {
        forgotten.clear(); // at the server, a new connection has only the watches that the handle still knows
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
        scheduler.handOver(states::end);
        closing.run();
    }

    /**
     * Returns the answer to one request. If ZooKeeper's client fails to read a response, for example because memory has
     * run out, it drops the connection but delivers what it has read so far as if it were complete. Fields are read in
     * order, so {@code value} must be null if the last field is missing. Such an answer counts as lost with the
     * connection.
     */
    private static <T> Answer<T> answer(int rc, @Nullable T value) {
        if (rc != OK) {
            return Answer.failed(Answer.codeOf(rc));
        }
        return value != null ? Answer.ok(value) : Answer.failed(Code.CONNECTIONLOSS);
    }

    /**
     * Returns the answer to a {@code multi}. If results are missing, the response was read only in part and counts as
     * lost, see {@link #answer}.
     */
    private static Answer<List<OpResult>> ofMulti(int rc, @Nullable List<OpResult> results, int operations) {
        boolean isWhole = results == null ? rc != OK : results.size() == operations;
        return isWhole ? new Answer<>(Answer.codeOf(rc), results) : Answer.failed(Code.CONNECTIONLOSS);
    }

    /**
     * Delivers an answer on the engine thread. A loss of the connection answers all pending requests at once. These
     * answers go to the engine's own thread, so that the engine decides once after all of them rather than after each.
     */
    private <T> void deliver(Consumer<Answer<T>> reply, Answer<T> answer) {
        Code code = answer.code();
        if (code == Code.CONNECTIONLOSS) {
            scheduler.handOver(() -> {
                states.onLoss();
                // The server refused another request and closed the connection because of it, so this request is
                // refused, too.
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

    /**
     * Runs a task on the engine thread: at once if the calling thread may run engine tasks, otherwise on the engine's
     * own thread.
     */
    private void onEngine(Runnable task) {
        if (mayRunHere.getAsBoolean()) {
            scheduler.execute(task);
        } else {
            scheduler.handOver(task);
        }
    }

    /**
     * Closes the handle. A server that requires authentication closes the connection on each unauthenticated request
     * but leaves the session open. Reconnecting would not help.
     */
    private void onAuthFailed() {
        if (!states.current().isFinal()) {
            states.become(State.AUTH_FAILED);
            watches.clear();
            scheduler.executeBlocking(closing);
        }
    }

    /** ZooKeeper returns null as the data of a node that was created without data. */
    private static @Nullable Content content(byte @Nullable [] data, @Nullable Stat stat) {
        return stat == null ? null : new Content(data == null ? new byte[0] : data, stat);
    }
}
