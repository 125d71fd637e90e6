// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.Answer;
import dev.zkrecipes.core.spi.ZooKeeperOperations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/** A session on one lock path, that answers at once and can be told to lie in its lists. */
final class ScriptedOperations implements ZooKeeperOperations {
    static final long SESSION = 7;

    private final ManualScheduler scheduler;
    private final TreeSet<String> nodes = new TreeSet<>();
    private final List<String> deleted = new ArrayList<>();
    private UnaryOperator<List<String>> view = names -> names;
    private long zxid;

    ScriptedOperations(ManualScheduler scheduler) {
        this.scheduler = scheduler;
    }

    /** Puts a node of somebody else's there. */
    void add(String name) {
        nodes.add(name);
    }

    /** Lists are shown so from now on. */
    void show(UnaryOperator<List<String>> changed) {
        view = changed;
    }

    List<String> nodes() {
        return List.copyOf(nodes);
    }

    List<String> deleted() {
        return List.copyOf(deleted);
    }

    @Override
    public State initialState() {
        return State.CONNECTED;
    }

    @Override
    public long sessionId() {
        return SESSION;
    }

    @Override
    public Duration sessionTimeout() {
        return Duration.ofSeconds(30);
    }

    @Override
    public Optional<ZooKeeper> handle() {
        return Optional.empty();
    }

    @Override
    public void createEphemeralSequential(String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply) {
        String path = prefix + String.format("%010d", zxid);
        nodes.add(LockPath.name(path));
        answer(reply, Answer.ok(new Created(path, stat())));
    }

    @Override
    public void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        answer(reply, Answer.failed(Code.NODEEXISTS));
    }

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        answer(reply, Answer.ok(new Children(view.apply(nodes()), stat())));
    }

    @Override
    public void read(String path, Consumer<Answer<Content>> reply) {
        answer(reply, contentOf(path));
    }

    @Override
    public void acl(String path, Consumer<Answer<Access>> reply) {
        answer(reply, Answer.ok(new Access(List.of(), new Stat())));
    }

    @Override
    public void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
        answer(reply, contentOf(path));
    }

    @Override
    public void dropWatch(String path, Consumer<NodeEvent> watch) {}

    @Override
    public void delete(String path, Consumer<Answer<String>> reply) {
        deleted.add(LockPath.name(path));
        answer(reply, nodes.remove(LockPath.name(path)) ? Answer.ok(path) : Answer.failed(Code.NONODE));
    }

    @Override
    public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        answer(reply, Answer.ok(List.of()));
    }

    @Override
    public void close() {}

    private Answer<Content> contentOf(String path) {
        return nodes.contains(LockPath.name(path))
                ? Answer.ok(new Content(new byte[0], stat()))
                : Answer.failed(Code.NONODE);
    }

    private Stat stat() {
        Stat stat = new Stat();
        stat.setCzxid(++zxid);
        stat.setEphemeralOwner(SESSION);
        return stat;
    }

    private <T> void answer(Consumer<Answer<T>> reply, Answer<T> answer) {
        scheduler.execute(() -> reply.accept(answer));
    }
}
