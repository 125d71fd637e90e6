// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.internal.thread.Guarded;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ForwardingOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.ACL;

/**
 * Operations that answer every request and never throw: what the port throws, for want of a method in an old client jar
 * say, is the answer. One request often serves many who asked together, and they are told of it by its answer only. So the
 * rest of the engine need not expect that a request throws.
 */
public final class AnsweringOperations implements ForwardingOperations {
    private final ZooKeeperOperations inner;
    private final EngineScheduler scheduler;

    private AnsweringOperations(ZooKeeperOperations inner, EngineScheduler scheduler) {
        this.inner = inner;
        this.scheduler = scheduler;
    }

    /** Opens sessions whose requests are all answered. */
    public static Factory factory(Factory inner, EngineScheduler scheduler) {
        return states -> new AnsweringOperations(inner.open(states), scheduler);
    }

    /** Later, like any other answer. */
    private <T> void send(Consumer<Answer<T>> reply, Runnable request) {
        try {
            request.run();
        } catch (Throwable t) {
            scheduler.execute(() -> reply.accept(Answer.broken(t)));
        }
    }

    @Override
    public ZooKeeperOperations inner() {
        return inner;
    }

    @Override
    public void createEphemeralSequential(String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply) {
        send(reply, () -> inner.createEphemeralSequential(prefix, data, acl, reply));
    }

    @Override
    public void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        send(reply, () -> inner.createContainer(path, acl, reply));
    }

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        send(reply, () -> inner.children(path, reply));
    }

    @Override
    public void read(String path, Consumer<Answer<Content>> reply) {
        send(reply, () -> inner.read(path, reply));
    }

    @Override
    public void acl(String path, Consumer<Answer<Access>> reply) {
        send(reply, () -> inner.acl(path, reply));
    }

    @Override
    public void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
        send(reply, () -> inner.readAndWatch(path, watch, reply));
    }

    @Override
    public void watchDeletion(String path, Consumer<NodeEvent> watch, Consumer<Answer<String>> reply) {
        send(reply, () -> inner.watchDeletion(path, watch, reply));
    }

    /** Nobody is told of this one: the watch tells nothing more in any case. */
    @Override
    public void dropWatch(String path, Consumer<NodeEvent> watch) {
        Guarded.run(() -> inner.dropWatch(path, watch));
    }

    @Override
    public void delete(String path, Consumer<Answer<String>> reply) {
        send(reply, () -> inner.delete(path, reply));
    }

    @Override
    public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        send(reply, () -> inner.multi(operations, reply));
    }
}
