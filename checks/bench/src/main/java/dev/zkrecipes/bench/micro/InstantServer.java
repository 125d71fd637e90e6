// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.micro;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * One session with a server that answers at once and costs next to nothing: one existing lock path, its nodes, and no
 * contention. It refuses every other request, so that no benchmark measures something that it does not do.
 */
final class InstantServer implements ZooKeeperOperations {
    private static final long SESSION = 0x1234;

    private final EngineScheduler scheduler;
    private final List<String> names = new ArrayList<>();
    private final Stat parent = new Stat();
    private int next;

    private InstantServer(EngineScheduler scheduler) {
        this.scheduler = scheduler;
    }

    static ZooKeeperOperations.Factory on(EngineScheduler scheduler) {
        return states -> new InstantServer(scheduler);
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
        String path = prefix + String.format(Locale.ROOT, "%010d", next++);
        names.add(path.substring(path.lastIndexOf('/') + 1));
        Stat stat = new Stat();
        stat.setCzxid(next);
        stat.setEphemeralOwner(SESSION);
        scheduler.execute(() -> reply.accept(Answer.ok(new Created(path, stat))));
    }

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        Children children = new Children(new ArrayList<>(names), parent);
        scheduler.execute(() -> reply.accept(Answer.ok(children)));
    }

    @Override
    public void delete(String path, Consumer<Answer<String>> reply) {
        names.remove(path.substring(path.lastIndexOf('/') + 1));
        scheduler.execute(() -> reply.accept(Answer.ok(path)));
    }

    @Override
    public void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        throw refused("createContainer");
    }

    @Override
    public void read(String path, Consumer<Answer<Content>> reply) {
        throw refused("read");
    }

    @Override
    public void acl(String path, Consumer<Answer<Access>> reply) {
        throw refused("acl");
    }

    @Override
    public void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
        scheduler.execute(() -> reply.accept(Answer.ok(new Content(new byte[0], parent)))); // nothing ever changes
    }

    @Override
    public void watchDeletion(String path, Consumer<NodeEvent> watch, Consumer<Answer<String>> reply) {
        throw refused("watchDeletion");
    }

    @Override
    public void dropWatch(String path, Consumer<NodeEvent> watch) {
        // there is none
    }

    @Override
    public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        throw refused("multi");
    }

    @Override
    public void close() {
        // nothing is open
    }

    private static UnsupportedOperationException refused(String what) {
        return new UnsupportedOperationException("an uncontended acquire asks for no " + what);
    }
}
