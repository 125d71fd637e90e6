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
 * Operations that answer every request and never throw: an exception of the port, such as a method missing in an old
 * client jar, becomes the answer. One request often serves many waiting requests, which learn of it only by its answer.
 * So the rest of the engine need not expect exceptions from requests.
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
    private <T> void answer(Consumer<Answer<T>> reply, Throwable thrown) {
        scheduler.execute(() -> reply.accept(Answer.broken(thrown)));
    }

    @Override
    public ZooKeeperOperations inner() {
        return inner;
    }

    @Override
    public void createEphemeralSequential(String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply) {
        try {
            inner.createEphemeralSequential(prefix, data, acl, reply);
        } catch (Throwable t) {
            answer(reply, t);
        }
    }

    @Override
    public void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        try {
            inner.createContainer(path, acl, reply);
        } catch (Throwable t) {
            answer(reply, t);
        }
    }

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        try {
            inner.children(path, reply);
        } catch (Throwable t) {
            answer(reply, t);
        }
    }

    @Override
    public void read(String path, Consumer<Answer<Content>> reply) {
        try {
            inner.read(path, reply);
        } catch (Throwable t) {
            answer(reply, t);
        }
    }

    @Override
    public void acl(String path, Consumer<Answer<Access>> reply) {
        try {
            inner.acl(path, reply);
        } catch (Throwable t) {
            answer(reply, t);
        }
    }

    @Override
    public void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
        try {
            inner.readAndWatch(path, watch, reply);
        } catch (Throwable t) {
            answer(reply, t);
        }
    }

    @Override
    public void watchDeletion(String path, Consumer<NodeEvent> watch, Consumer<Answer<String>> reply) {
        try {
            inner.watchDeletion(path, watch, reply);
        } catch (Throwable t) {
            answer(reply, t);
        }
    }

    /** No answer is needed: the watch reports nothing more in any case. */
    @Override
    public void dropWatch(String path, Consumer<NodeEvent> watch) {
        Guarded.run(() -> inner.dropWatch(path, watch));
    }

    @Override
    public void delete(String path, Consumer<Answer<String>> reply) {
        try {
            inner.delete(path, reply);
        } catch (Throwable t) {
            answer(reply, t);
        }
    }

    @Override
    public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        try {
            inner.multi(operations, reply);
        } catch (Throwable t) {
            answer(reply, t);
        }
    }
}
