// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.sim;

import dev.zkrecipes.core.spi.Answer;
import dev.zkrecipes.core.spi.ZooKeeperOperations;
import dev.zkrecipes.test.Soon;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/** The port on a real handle, as the engine has it, told on the handle's event thread. */
final class HandleSession implements ZooKeeperOperations {
    private static final int TIMEOUT_MILLIS = 60_000;

    private final ZooKeeper handle;
    private boolean closed;

    private HandleSession(ZooKeeper handle) {
        this.handle = handle;
    }

    static HandleSession connect(String connectString) {
        CompletableFuture<KeeperState> connected = new CompletableFuture<>();
        try {
            ZooKeeper handle =
                    new ZooKeeper(connectString, TIMEOUT_MILLIS, event -> connected.complete(event.getState()));
            Soon.get(connected);
            return new HandleSession(handle);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean isClosed() {
        return closed;
    }

    @Override
    public State initialState() {
        return State.CONNECTED;
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
                (rc, path, ctx, name, stat) -> tell(reply, rc, () -> new Created(name, stat)),
                null);
    }

    @Override
    public void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        handle.create(
                path,
                new byte[0],
                acl,
                CreateMode.CONTAINER,
                (int rc, String asked, Object ctx, String name) -> tell(reply, rc, () -> name),
                null);
    }

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        handle.getChildren(
                path,
                false,
                (int rc, String asked, Object ctx, List<String> names, org.apache.zookeeper.data.Stat stat) ->
                        tell(reply, rc, () -> new Children(names, stat)),
                null);
    }

    @Override
    public void read(String path, Consumer<Answer<Content>> reply) {
        handle.getData(
                path, false, (rc, asked, ctx, data, stat) -> tell(reply, rc, () -> new Content(data, stat)), null);
    }

    @Override
    public void acl(String path, Consumer<Answer<Access>> reply) {
        handle.getACL(path, null, (rc, asked, ctx, acl, stat) -> tell(reply, rc, () -> new Access(acl, stat)), null);
    }

    @Override
    public void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
        handle.getData(
                path,
                new NodeWatch(watch),
                (rc, asked, ctx, data, stat) -> tell(reply, rc, () -> new Content(data, stat)),
                null);
    }

    @Override
    public void dropWatch(String path, Consumer<NodeEvent> watch) {
        handle.removeWatches(path, new NodeWatch(watch), Watcher.WatcherType.Data, true, (rc, asked, ctx) -> {}, null);
    }

    @Override
    public void delete(String path, Consumer<Answer<String>> reply) {
        handle.delete(path, -1, (rc, asked, ctx) -> tell(reply, rc, () -> path), null);
    }

    @Override
    public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        handle.multi(operations, (rc, asked, ctx, results) -> reply.accept(new Answer<>(Code.get(rc), results)), null);
    }

    @Override
    public void close() {
        closed = true;
        try {
            handle.close();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static <T> void tell(Consumer<Answer<T>> reply, int rc, Supplier<T> value) {
        Code code = Code.get(rc);
        reply.accept(code == Code.OK ? Answer.ok(value.get()) : Answer.failed(code));
    }

    /** Equal if they feed the same consumer. */
    private record NodeWatch(Consumer<NodeEvent> watch) implements Watcher {
        @Override
        public void process(WatchedEvent event) {
            switch (event.getType()) {
                case NodeDeleted -> watch.accept(NodeEvent.DELETED);
                case NodeDataChanged, DataWatchRemoved -> watch.accept(NodeEvent.CHANGED);
                case None -> {} // the session's
                default -> throw new AssertionError("an event that was not asked for: " + event);
            }
        }
    }
}
