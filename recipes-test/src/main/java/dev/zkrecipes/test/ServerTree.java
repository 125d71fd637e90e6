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
import java.util.concurrent.atomic.AtomicReference;
import org.apache.jute.Record;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.NoNodeException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.DeleteRequest;
import org.apache.zookeeper.proto.SetDataRequest;
import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.EphemeralType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The data of an {@link EmbeddedZooKeeper}. Reads access the memory of the running server; changes are requests that
 * the server sends to itself.
 */
abstract sealed class ServerTree permits EmbeddedZooKeeper {
    private static final Logger LOG = LoggerFactory.getLogger(ServerTree.class);
    private static final int ANY_VERSION = -1;

    ServerTree() {}

    abstract RunningServer running();

    /**
     * {@return the number of watches on the server, for data, existence and children together} A path that one session
     * watches for both data and children counts twice.
     */
    public int watchCount() {
        return running().tree().getWatchCount();
    }

    /**
     * {@return the ids of the sessions, in ascending order, that watch a node after reading its data or checking its
     * existence} Such a session is notified of a change or a deletion of the node.
     *
     * @param path the path of the node
     */
    public List<Long> watchers(String path) {
        Set<Long> sessions = running().tree().getWatchesByPath().getSessions(path);
        return sessions == null ? List.of() : sessions.stream().sorted().toList();
    }

    /**
     * {@return the ids of the sessions, in ascending order, that watch a node after listing its children} Such a
     * session is notified of the deletion of the node, and of created and deleted children. On a node that cannot have
     * children, this is a watch on its deletion only.
     *
     * @param path the path of the node
     */
    public List<Long> childWatchers(String path) {
        return running().childWatchers(path);
    }

    /**
     * {@return the names of the children in the order of {@link String#compareTo}; empty if the parent does not
     * exist}
     *
     * @param path the path of the parent
     */
    public List<String> children(String path) {
        DataNode node = running().tree().getNode(path);
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

    /**
     * {@return whether a node exists}
     *
     * @param path the path of the node
     */
    public boolean nodeExists(String path) {
        return running().tree().getNode(path) != null;
    }

    /**
     * {@return a copy of the data of a node, of length 0 if it has none; empty if the node does not exist}
     *
     * @param path the path of the node
     */
    public Optional<byte[]> data(String path) {
        DataNode node = running().tree().getNode(path);
        if (node == null) {
            return Optional.empty();
        }
        byte[] data = node.getData();
        return Optional.of(data == null ? new byte[0] : data.clone());
    }

    /**
     * {@return the paths of a session's ephemeral nodes in the order of {@link String#compareTo}}
     *
     * @param sessionId the id of the session
     */
    public List<String> ephemerals(long sessionId) {
        Set<String> paths = running().tree().getEphemerals(sessionId);
        return paths.stream().sorted().toList();
    }

    /**
     * {@return the id of the session that owns an ephemeral node; empty if the node does not exist or is not
     * ephemeral}
     *
     * @param path the path of the node
     */
    public OptionalLong owner(String path) {
        DataNode node = running().tree().getNode(path);
        if (node == null) {
            return OptionalLong.empty();
        }
        // Containers and nodes with a time to live use this field for another purpose.
        long owner = node.stat.getEphemeralOwner();
        return EphemeralType.get(owner) == EphemeralType.NORMAL ? OptionalLong.of(owner) : OptionalLong.empty();
    }

    /** {@return the zxid of the latest applied transaction} */
    public long lastZxid() {
        return running().tree().lastProcessedZxid;
    }

    /**
     * Creates a persistent node that any client may change.
     *
     * @param path the path of the node; its parent must exist
     * @param data the data of the node
     * @throws IllegalArgumentException if ZooKeeper refuses; its exception is the cause
     */
    public void createNode(String path, byte[] data) {
        createNode(path, data, CreateMode.PERSISTENT);
    }

    /**
     * Creates a node that any client may change.
     *
     * @param path the path of the node, without the number for a sequential node; its parent must exist
     * @param data the data of the node
     * @param mode the kind of node; not ephemeral, because an operator has no session, and not with a time to live
     * @return the path of the node, with the number for a sequential node
     * @throws IllegalArgumentException if the mode is not possible, or if ZooKeeper refuses; its exception is the cause
     */
    public String createNode(String path, byte[] data, CreateMode mode) {
        if (mode.isEphemeral() || mode.isTTL()) {
            throw new IllegalArgumentException(mode + " is not possible: use a client of your own to create " + path);
        }
        int opCode = mode.isContainer() ? OpCode.createContainer : OpCode.create;
        return change(
                "create " + path, opCode, new CreateRequest(path, data.clone(), Ids.OPEN_ACL_UNSAFE, mode.toFlag()));
    }

    /**
     * Replaces the data of a node, whatever its version.
     *
     * @param path the path of the node
     * @param data the new data
     * @throws IllegalArgumentException if ZooKeeper refuses; its exception is the cause
     */
    public void setData(String path, byte[] data) {
        change("set " + path, OpCode.setData, new SetDataRequest(path, data.clone(), ANY_VERSION));
    }

    /**
     * Deletes a node that has no children, whatever its version.
     *
     * @param path the path of the node
     * @throws IllegalArgumentException if ZooKeeper refuses; its exception is the cause
     */
    public void deleteNode(String path) {
        change("delete " + path, OpCode.delete, new DeleteRequest(path, ANY_VERSION));
    }

    /**
     * Ages a path: its next sequential child gets this number, as if that many children had been created before. The
     * counter survives a restart and never decreases. It stops at {@link Integer#MAX_VALUE}: from then on all children
     * get that number, and the server logs digest mismatches, as a real one does.
     *
     * <p>No other client should create or delete children of the path at that moment.
     *
     * @param path the path of the parent
     * @param next the number, not less than the number that would be next anyway
     * @throws IllegalArgumentException if the path does not exist, or if its next number is higher already
     */
    public void setSequenceCounter(String path, int next) {
        String problem = advance(running(), path, next);
        if (problem != null) {
            throw new IllegalArgumentException("cannot set the sequence counter of " + path + ": " + problem);
        }
        try {
            // No transaction contains this change, so only a snapshot preserves it across a restart.
            running().takeSnapshot();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot keep the sequence counter of " + path, e);
        }
    }

    /**
     * Removes the containers that had children and are empty now, without waiting for the next check (see
     * {@link EmbeddedZooKeeperBuilder#containerCheckInterval}). They are gone when this method returns, except for
     * those in which a client has created a child meanwhile.
     */
    public void reapContainers() {
        running().checkContainers();
    }

    private String change(String what, int opCode, Record body) {
        try {
            String path = running().submit(OperatorRequest.of(opCode, body)).path;
            return path == null ? "" : path;
        } catch (KeeperException e) {
            throw new IllegalArgumentException("cannot " + what + ": " + e.getMessage(), e);
        }
    }

    /** Sets the counter, and returns the problem that prevented it; null if there was none. */
    private static @Nullable String advance(RunningServer server, String path, int next) {
        AtomicReference<@Nullable String> problem = new AtomicReference<>();
        // This runs on the server's own thread: the tree keeps a digest of itself, which concurrent writers would
        // corrupt.
        server.barrier(() -> problem.set(advance(server.tree(), path, next)));
        // The server records the digest with each transaction, even with one that fails. Without a transaction after
        // the change, it would find a difference when it reads the next snapshot, and complain.
        failToDeleteNothing(server);
        return problem.get();
    }

    private static void failToDeleteNothing(RunningServer server) {
        try {
            server.submit(OperatorRequest.of(OpCode.delete, new DeleteRequest("/zookeeper/nothing", -1)));
        } catch (KeeperException e) {
            LOG.debug("as intended", e);
        }
    }

    private static @Nullable String advance(DataTree tree, String path, int next) {
        DataNode node = tree.getNode(path);
        if (node == null) {
            return "no such node";
        }
        int current = node.stat.getCversion();
        if (next < current) {
            return "its next number is " + current + " already, it cannot go back to " + next;
        }
        try {
            tree.setCversionPzxid(path, next, node.stat.getPzxid());
            return null;
        } catch (NoNodeException e) {
            return "no such node any more";
        }
    }
}
