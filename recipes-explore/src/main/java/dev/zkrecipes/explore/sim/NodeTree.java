// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.zookeeper.ZooDefs;
import org.jspecify.annotations.Nullable;

/** All nodes at one moment, after one transaction. Immutable. */
public final class NodeTree {
    private final Map<String, TreeNode> nodes;

    /** Takes ownership of the map, which must not change any more. */
    NodeTree(Map<String, TreeNode> nodes) {
        this.nodes = nodes;
    }

    /** Returns a tree with only the root. */
    static NodeTree empty() {
        return new NodeTree(Map.of("/", TreeNode.made(new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, 0, false, 0, 0)));
    }

    Map<String, TreeNode> nodes() {
        return nodes;
    }

    @Nullable
    TreeNode get(String path) {
        return nodes.get(path);
    }

    /**
     * {@return whether there is such a node}
     *
     * @param path the path of the node
     */
    public boolean exists(String path) {
        return nodes.containsKey(path);
    }

    /**
     * {@return the data of a node; empty if there is no such node}
     *
     * @param path the path of the node
     */
    public Optional<byte[]> data(String path) {
        return Optional.ofNullable(nodes.get(path)).map(node -> node.data().clone());
    }

    /**
     * {@return the id of the transaction that created a node; 0 if there is no such node}
     *
     * @param path the path of the node
     */
    public long madeBy(String path) {
        TreeNode node = nodes.get(path);
        return node == null ? 0 : node.czxid();
    }

    /**
     * {@return the session of an ephemeral node; empty if there is no such node or it is not ephemeral}
     *
     * @param path the path of the node
     */
    public Optional<Long> owner(String path) {
        return Optional.ofNullable(nodes.get(path)).map(TreeNode::owner).filter(owner -> owner != 0);
    }

    /**
     * {@return the names of the children of a node, in no particular order; none if there is no such node}
     *
     * @param path the path of the parent
     */
    public List<String> children(String path) {
        String prefix = path.equals("/") ? path : path + "/";
        List<String> names = new ArrayList<>();
        for (String found : nodes.keySet()) {
            if (found.length() > prefix.length()
                    && found.startsWith(prefix)
                    && found.indexOf('/', prefix.length()) < 0) {
                names.add(found.substring(prefix.length()));
            }
        }
        return names;
    }

    static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash == 0 ? "/" : path.substring(0, slash);
    }
}
