// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/** Passes everything on; what is broken in it, a subclass says. */
class BrokenOperations implements ZooKeeperOperations {
    final ZooKeeperOperations sound;

    BrokenOperations(ZooKeeperOperations sound) {
        this.sound = sound;
    }

    @Override
    public State initialState() {
        return sound.initialState();
    }

    @Override
    public long sessionId() {
        return sound.sessionId();
    }

    @Override
    public Duration sessionTimeout() {
        return sound.sessionTimeout();
    }

    @Override
    public Optional<ZooKeeper> handle() {
        return sound.handle();
    }

    @Override
    public void createEphemeralSequential(String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply) {
        sound.createEphemeralSequential(prefix, data, acl, reply);
    }

    @Override
    public void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        sound.createContainer(path, acl, reply);
    }

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        sound.children(path, reply);
    }

    @Override
    public void read(String path, Consumer<Answer<Content>> reply) {
        sound.read(path, reply);
    }

    @Override
    public void acl(String path, Consumer<Answer<Access>> reply) {
        sound.acl(path, reply);
    }

    @Override
    public void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
        sound.readAndWatch(path, watch, reply);
    }

    @Override
    public void watchChildren(String path, Consumer<NodeEvent> watch, Consumer<Answer<List<String>>> reply) {
        sound.watchChildren(path, watch, reply);
    }

    @Override
    public void dropWatch(String path, Consumer<NodeEvent> watch) {
        sound.dropWatch(path, watch);
    }

    @Override
    public void delete(String path, Consumer<Answer<String>> reply) {
        sound.delete(path, reply);
    }

    @Override
    public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        sound.multi(operations, reply);
    }

    @Override
    public void close() {
        sound.close();
    }
}
