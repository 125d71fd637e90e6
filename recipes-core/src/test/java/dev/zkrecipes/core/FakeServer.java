// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.time.Duration;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/** One session with a server that grants whatever is free and answers writes as the test says. */
final class FakeServer implements ZooKeeperOperations {
    static final Duration SESSION = Duration.ofSeconds(6);

    private final ManualTime time;
    private final NavigableSet<String> nodes = new TreeSet<>();
    private int created;
    private int deletes;
    private Code writes = Code.OK;
    private boolean silent;

    FakeServer(ManualTime time) {
        this.time = time;
    }

    /** For {@code ZooKeeperClientBuilder.operations}: connects at once. */
    ZooKeeperOperations open(Consumer<State> states) {
        time.execute(() -> states.accept(State.CONNECTED));
        return this;
    }

    /** From now on deletes and transactions get this answer. */
    void answerWritesWith(Code code) {
        writes = code;
    }

    /** From now on nothing is answered. */
    void fallSilent() {
        silent = true;
    }

    NavigableSet<String> nodes() {
        return nodes;
    }

    int deletes() {
        return deletes;
    }

    private <T> void reply(Consumer<Answer<T>> reply, Answer<T> answer) {
        if (!silent) {
            time.execute(() -> reply.accept(answer));
        }
    }

    @Override
    public State initialState() {
        return State.CONNECTING;
    }

    @Override
    public long sessionId() {
        return 1;
    }

    @Override
    public Duration sessionTimeout() {
        return SESSION;
    }

    @Override
    public Optional<ZooKeeper> handle() {
        return Optional.empty();
    }

    @Override
    public void createEphemeralSequential(String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply) {
        String path = prefix + String.format("%010d", created++);
        nodes.add(path);
        Stat stat = new Stat();
        stat.setCzxid(created);
        stat.setEphemeralOwner(sessionId());
        reply(reply, Answer.ok(new Created(path, stat)));
    }

    @Override
    public void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        reply(reply, Answer.ok(path));
    }

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        List<String> names = nodes.stream()
                .filter(node -> node.startsWith(path + "/"))
                .map(node -> node.substring(path.length() + 1))
                .toList();
        reply(reply, Answer.ok(new Children(names, new Stat())));
    }

    @Override
    public void read(String path, Consumer<Answer<Content>> reply) {
        reply(reply, Answer.ok(new Content(new byte[0], new Stat())));
    }

    @Override
    public void acl(String path, Consumer<Answer<Access>> reply) {
        reply(reply, Answer.ok(new Access(List.of(), new Stat())));
    }

    @Override
    public void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
        read(path, reply);
    }

    @Override
    public void watchDeletion(String path, Consumer<NodeEvent> watch, Consumer<Answer<String>> reply) {
        reply(reply, nodes.contains(path) ? Answer.ok(path) : Answer.failed(Code.NONODE));
    }

    @Override
    public void dropWatch(String path, Consumer<NodeEvent> watch) {}

    @Override
    public void delete(String path, Consumer<Answer<String>> reply) {
        deletes++;
        if (writes == Code.OK) {
            nodes.remove(path);
        }
        reply(reply, new Answer<>(writes, path));
    }

    @Override
    public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        reply(reply, new Answer<>(writes, List.of()));
    }

    @Override
    public void close() {}
}
