// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.session.WatchRegistry;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The watches on the nodes of one path that a request waits for. The next request usually waits for most of the same
 * nodes, so the set passes to it and only the difference is sent: the cost of a change is that of the added nodes,
 * however many are watched.
 *
 * <p>Confined to the engine thread.
 */
final class PredecessorWatches implements WatchRegistry.DeletionSubscriber {

    /** The waiting request. */
    interface Owner {
        /** A node that was waited for is gone. */
        void onGone(String nodePath);

        /** The server refused to watch a node. */
        void onRefused(String nodePath, Answer<?> answer);
    }

    private final WatchRegistry registry;
    private final String path;
    private final Owner owner;
    private final Set<String> names = new HashSet<>();

    PredecessorWatches(WatchRegistry registry, String path, Owner owner) {
        this.registry = registry;
        this.path = path;
        this.owner = owner;
    }

    /** Whether each node is watched here or known. */
    boolean haveAll(List<LockNode> nodes, Predicate<LockNode> known) {
        for (LockNode node : nodes) {
            if (!names.contains(node.name()) && !known.test(node)) {
                return false;
            }
        }
        return true;
    }

    /** The paths of the watched nodes. */
    Stream<String> paths() {
        return names.stream().map(name -> LockPath.child(path, name));
    }

    boolean hasPath(String nodePath) {
        return names.contains(LockPath.name(nodePath));
    }

    /** Watches these nodes and no others. */
    void moveTo(List<LockNode> next) {
        for (LockNode node : next) {
            if (names.add(node.name())) {
                registry.subscribeToDeletion(LockPath.child(path, node.name()), this);
            }
        }
        if (names.size() > next.size()) {
            retain(next);
        }
    }

    private void retain(List<LockNode> next) {
        Set<String> wanted = new HashSet<>();
        next.forEach(node -> wanted.add(node.name()));
        for (Iterator<String> each = names.iterator(); each.hasNext(); ) {
            String name = each.next();
            if (!wanted.contains(name)) {
                each.remove();
                registry.unsubscribeFromDeletion(LockPath.child(path, name), this);
            }
        }
    }

    @Override
    public void onWatched(String nodePath) {
        // Whether a node is watched is asked when it matters.
    }

    @Override
    public void onGone(String nodePath) {
        if (names.remove(LockPath.name(nodePath))) {
            owner.onGone(nodePath);
        }
    }

    @Override
    public void onRefused(String nodePath, Answer<?> answer) {
        if (names.remove(LockPath.name(nodePath))) {
            owner.onRefused(nodePath, answer);
        }
    }
}
