// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.operate.Kind.Named;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** One path: its children in the latest list, and the data of those that look like lock nodes. Not thread-safe. */
final class Folder {
    private final String path;
    private final Map<String, Named> lockNames = new HashMap<>();
    private final Map<String, Node> nodes = new HashMap<>();
    private final List<String> otherNames = new ArrayList<>();
    private Status status = Status.TO_BE_READ;
    private Optional<Limit> limit = Optional.empty();

    enum Status {
        TO_BE_READ,
        READ,
        MISSING,
        NO_RIGHTS
    }

    Folder(String path) {
        this.path = path;
    }

    String path() {
        return path;
    }

    Status status() {
        return status;
    }

    void markDirty() {
        status = Status.TO_BE_READ;
    }

    /** There is nothing to read there. */
    void setUnread(Status why) {
        status = why;
        limit = Optional.empty();
        lockNames.clear();
        nodes.clear();
        otherNames.clear();
    }

    /**
     * Takes a new list, and keeps what is known of nodes that are still there.
     *
     * @param found the limit of a semaphore, if the data of the path are one
     */
    void setRead(List<String> names, Optional<Limit> found) {
        status = Status.READ;
        limit = found;
        lockNames.clear();
        otherNames.clear();
        for (String name : names) {
            Kind.read(name).ifPresentOrElse(named -> lockNames.put(name, named), () -> otherNames.add(name));
        }
        nodes.keySet().retainAll(lockNames.keySet());
    }

    /** The lock nodes that have not been read yet. */
    Set<String> unreadNames() {
        Set<String> unread = new HashSet<>(lockNames.keySet());
        unread.removeAll(nodes.keySet());
        return unread;
    }

    Named named(String name) {
        Named found = lockNames.get(name);
        if (found == null) {
            throw new IllegalArgumentException(name + " is not listed");
        }
        return found;
    }

    void put(String name, Node node) {
        nodes.put(name, node);
    }

    /** The node is gone, or its data have changed. */
    void forget(String name) {
        nodes.remove(name);
    }

    /** The node was gone when it was read. */
    void drop(String name) {
        lockNames.remove(name);
        nodes.remove(name);
    }

    /** The children that are not lock nodes or have children of their own. */
    List<String> subFolders() {
        List<String> names = new ArrayList<>(otherNames);
        nodes.forEach((name, node) -> {
            if (node.hasChildren()) {
                names.add(name);
            }
        });
        return names;
    }

    /** How many children only look like lock nodes. */
    int lookAlikes() {
        return (int) nodes.values().stream().filter(node -> !node.isOfLock()).count();
    }

    boolean has(String childName) {
        return otherNames.contains(childName);
    }

    Queue queue() {
        List<Node> ofLocks = nodes.values().stream().filter(Node::isOfLock).toList();
        return new Queue(path, ofLocks, limit);
    }
}
