// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.jute.Record;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.DeleteRequest;
import org.apache.zookeeper.proto.SetDataRequest;
import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.EphemeralType;

/** The tree of one run of a server: reads look into its memory, changes are requests of the server to itself. */
final class LiveTree implements ServerTree {
    private static final int ANY_VERSION = -1;

    private final RunningServer server;

    LiveTree(RunningServer server) {
        this.server = server;
    }

    @Override
    public int watchCount() {
        return server.tree().getWatchCount();
    }

    @Override
    public List<Long> watchers(String path) {
        Set<Long> sessions = server.tree().getWatchesByPath().getSessions(path);
        return sessions == null ? List.of() : sessions.stream().sorted().toList();
    }

    @Override
    public List<Long> childWatchers(String path) {
        return server.childWatchers(path);
    }

    @Override
    public List<String> children(String path) {
        DataNode node = server.tree().getNode(path);
        if (node == null) {
            return List.of();
        }
        List<String> names;
        synchronized (node) {
            names = new ArrayList<>(node.getChildren());
        }
        Collections.sort(names);
        return Collections.unmodifiableList(names);
    }

    @Override
    public boolean nodeExists(String path) {
        return server.tree().getNode(path) != null;
    }

    @Override
    public Optional<byte[]> data(String path) {
        DataNode node = server.tree().getNode(path);
        if (node == null) {
            return Optional.empty();
        }
        byte[] data = node.getData();
        return Optional.of(data == null ? new byte[0] : data.clone());
    }

    @Override
    public List<String> ephemerals(long sessionId) {
        Set<String> paths = server.tree().getEphemerals(sessionId);
        return paths.stream().sorted().toList();
    }

    @Override
    public OptionalLong owner(String path) {
        DataNode node = server.tree().getNode(path);
        if (node == null) {
            return OptionalLong.empty();
        }
        // Containers and nodes with a time to live use the same field for something else.
        long owner = node.stat.getEphemeralOwner();
        return EphemeralType.get(owner) == EphemeralType.NORMAL ? OptionalLong.of(owner) : OptionalLong.empty();
    }

    @Override
    public long lastZxid() {
        return server.tree().lastProcessedZxid;
    }

    @Override
    public void createNode(String path, byte[] data) {
        createNode(path, data, CreateMode.PERSISTENT);
    }

    @Override
    public String createNode(String path, byte[] data, CreateMode mode) {
        if (mode.isEphemeral() || mode.isTTL()) {
            throw new IllegalArgumentException(mode + " is not possible: use a client of your own to create " + path);
        }
        int opCode = mode.isContainer() ? OpCode.createContainer : OpCode.create;
        return change(
                "create " + path, opCode, new CreateRequest(path, data.clone(), Ids.OPEN_ACL_UNSAFE, mode.toFlag()));
    }

    @Override
    public void setData(String path, byte[] data) {
        change("set " + path, OpCode.setData, new SetDataRequest(path, data.clone(), ANY_VERSION));
    }

    @Override
    public void deleteNode(String path) {
        change("delete " + path, OpCode.delete, new DeleteRequest(path, ANY_VERSION));
    }

    @Override
    public void setSequenceCounter(String path, int next) {
        String problem = SequenceCounter.advance(server, path, next);
        if (problem != null) {
            throw new IllegalArgumentException("cannot set the sequence counter of " + path + ": " + problem);
        }
        try {
            // It is in no transaction, so only a snapshot carries it over a restart.
            server.takeSnapshot();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot keep the sequence counter of " + path, e);
        }
    }

    @Override
    public void reapContainers() {
        server.checkContainers();
    }

    private String change(String what, int opCode, Record body) {
        try {
            String path = server.submit(OperatorRequest.of(opCode, body)).path;
            return path == null ? "" : path;
        } catch (KeeperException e) {
            throw new IllegalArgumentException("cannot " + what + ": " + e.getMessage(), e);
        }
    }
}
