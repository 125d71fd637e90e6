// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * A transaction that the leader is preparing. Its operations are applied one after the other to the tree as all earlier
 * transactions will leave it.
 */
final class Draft {
    private final NodeTree base; // the tree as all earlier transactions will leave it
    private final long zxid;
    private final long session;
    private final long millis;
    private final Function<String, Integer> firstNumber;
    private final List<Change> changes = new ArrayList<>();
    private Map<String, TreeNode> nodes; // the nodes of the base, copied before the first change
    private String created = ""; // the node that was created last

    /** What happened to a node. */
    record Change(String path, Kind kind) {}

    /** The kinds of changes for which watches fire. */
    enum Kind {
        CREATED,
        CHANGED,
        DELETED,
        /** The node was deleted after the right to read it had been revoked, so no client is notified. */
        DELETED_UNTOLD;

        boolean isDeletion() {
            return this == DELETED || this == DELETED_UNTOLD;
        }
    }

    /**
     * Begins a transaction.
     *
     * @param firstNumber returns the first number of a new node's counter
     */
    Draft(NodeTree base, long zxid, long session, long nanos, Function<String, Integer> firstNumber) {
        this.firstNumber = firstNumber;
        this.base = base;
        this.nodes = base.nodes();
        this.zxid = zxid;
        this.session = session;
        this.millis = nanos / 1_000_000;
    }

    long zxid() {
        return zxid;
    }

    List<Change> changes() {
        return changes;
    }

    NodeTree tree() {
        return nodes == base.nodes() ? base : new NodeTree(nodes);
    }

    /** Undoes everything that was done so far. */
    void undo() {
        nodes = base.nodes();
        changes.clear();
    }

    /** The path of the node that was created last, with its number. */
    String created() {
        return created;
    }

    Stat stat(String path) {
        return node(path).stat();
    }

    private TreeNode node(String path) {
        TreeNode node = nodes.get(path);
        if (node == null) {
            throw new IllegalStateException("no node " + path);
        }
        return node;
    }

    private void put(String path, TreeNode node) {
        writable().put(path, node);
    }

    private Map<String, TreeNode> writable() {
        if (nodes == base.nodes()) {
            nodes = new HashMap<>(base.nodes());
        }
        return nodes;
    }

    Code check(String path, int version) {
        TreeNode node = nodes.get(path);
        if (node == null) {
            return Code.NONODE;
        }
        return version == -1 || version == node.version() ? Code.OK : Code.BADVERSION;
    }

    Code create(String prefix, byte[] data, List<ACL> acl, CreateMode mode) {
        String parentPath = NodeTree.parent(prefix);
        TreeNode parent = nodes.get(parentPath);
        if (parent == null) {
            return Code.NONODE;
        }
        String path = mode.isSequential() ? prefix + digits(parent.creates()) : prefix;
        if (nodes.containsKey(path)) {
            return Code.NODEEXISTS;
        }
        if (parent.owner() != 0) {
            return Code.NOCHILDRENFOREPHEMERALS;
        }
        put(parentPath, parent.withAnotherChild(zxid));
        long owner = mode.isEphemeral() ? session : 0;
        TreeNode made = TreeNode.made(data, acl, owner, mode == CreateMode.CONTAINER, zxid, millis);
        put(path, owner == 0 ? made.withCounter(firstNumber.apply(path)) : made);
        changes.add(new Change(path, Kind.CREATED));
        created = path;
        return Code.OK;
    }

    /**
     * Creates an ephemeral node whose name ends with the number that a sequential node would get now, as a lock that
     * changes its mode does. The parent counts it like any other create.
     */
    Code createAtTheEnd(String prefix, byte[] data, List<ACL> acl) {
        TreeNode parent = nodes.get(NodeTree.parent(prefix));
        return parent == null
                ? Code.NONODE
                : create(prefix + digits(parent.creates()), data, acl, CreateMode.EPHEMERAL);
    }

    /**
     * Deletes an empty node and creates it again with the same data and ACL, and with a counter that is one behind.
     * After one more create below it, the numbers continue as if nothing had happened.
     */
    Code makeAnew(String path) {
        TreeNode old = nodes.get(path);
        Code code = old == null || old.creates() == 0 ? Code.NONODE : delete(path, -1);
        if (code == Code.OK && old != null) {
            code = create(path, old.data(), old.acl(), old.container() ? CreateMode.CONTAINER : CreateMode.PERSISTENT);
            put(path, node(path).withCounter(old.creates() - 1));
        }
        return code;
    }

    private static String digits(int number) {
        String plain = Integer.toString(number);
        return "0".repeat(10 - plain.length()) + plain;
    }

    /** Deletes a node that the watchers have lost the right to read: then the server does not notify them. */
    Code deleteUntold(String path) {
        Code code = delete(path, -1);
        if (code == Code.OK) {
            changes.set(changes.size() - 1, new Change(path, Kind.DELETED_UNTOLD));
        }
        return code;
    }

    Code delete(String path, int version) {
        if (path.equals("/")) {
            return Code.BADARGUMENTS;
        }
        Code code = check(path, version);
        if (code != Code.OK) {
            return code;
        }
        if (node(path).children() > 0) {
            return Code.NOTEMPTY;
        }
        String parentPath = NodeTree.parent(path);
        TreeNode parent = node(parentPath);
        put(parentPath, parent.withOneChildLess(zxid));
        writable().remove(path);
        changes.add(new Change(path, Kind.DELETED));
        return Code.OK;
    }

    Code setData(String path, byte[] data, int version) {
        Code code = check(path, version);
        if (code == Code.OK) {
            put(path, node(path).withData(data, zxid, millis));
            changes.add(new Change(path, Kind.CHANGED));
        }
        return code;
    }

    /** Deletes all ephemeral nodes of a session that ends, in one transaction. */
    void deleteAllOf(long ending) {
        List<String> paths = nodes.entrySet().stream()
                .filter(node -> node.getValue().owner() == ending)
                .map(Map.Entry::getKey)
                .sorted()
                .collect(Collectors.toList());
        paths.forEach(path -> delete(path, -1));
    }
}
