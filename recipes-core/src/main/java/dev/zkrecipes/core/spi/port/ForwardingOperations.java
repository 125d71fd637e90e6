// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi.port;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/** Operations that pass everything on to others, but for what an implementation overrides. */
public interface ForwardingOperations extends ZooKeeperOperations {

    /** {@return what everything is passed on to, always the same} */
    ZooKeeperOperations inner();

    /**
     * What takes the answer to a request that is passed on.
     *
     * @param reply the one that the request came with
     * @param <T> what is asked for
     * @return the same, unless an implementation overrides this
     */
    default <T> Consumer<Answer<T>> answered(Consumer<Answer<T>> reply) {
        return reply;
    }

    @Override
    default State initialState() {
        return inner().initialState();
    }

    @Override
    default long sessionId() {
        return inner().sessionId();
    }

    @Override
    default Duration sessionTimeout() {
        return inner().sessionTimeout();
    }

    @Override
    default Optional<ZooKeeper> handle() {
        return inner().handle();
    }

    @Override
    default void createEphemeralSequential(String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply) {
        inner().createEphemeralSequential(prefix, data, acl, answered(reply));
    }

    @Override
    default void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        inner().createContainer(path, acl, answered(reply));
    }

    @Override
    default void children(String path, Consumer<Answer<Children>> reply) {
        inner().children(path, answered(reply));
    }

    @Override
    default void read(String path, Consumer<Answer<Content>> reply) {
        inner().read(path, answered(reply));
    }

    @Override
    default void acl(String path, Consumer<Answer<Access>> reply) {
        inner().acl(path, answered(reply));
    }

    @Override
    default void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
        inner().readAndWatch(path, watch, answered(reply));
    }

    @Override
    default void watchDeletion(String path, Consumer<NodeEvent> watch, Consumer<Answer<String>> reply) {
        inner().watchDeletion(path, watch, answered(reply));
    }

    @Override
    default void dropWatch(String path, Consumer<NodeEvent> watch) {
        inner().dropWatch(path, watch);
    }

    @Override
    default void delete(String path, Consumer<Answer<String>> reply) {
        inner().delete(path, answered(reply));
    }

    @Override
    default void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        inner().multi(operations, answered(reply));
    }

    @Override
    default void close() {
        inner().close();
    }
}
