// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.WatchRegistry;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The places in the queue of a path that are served one after another. Under drivers that serve in order ({@link
 * dev.zkrecipes.core.spi.FifoDriver}) none is granted before the first, so only the first is decided for and has its
 * predecessors watched. They all share one order. Each request under another driver has an order of its own.
 *
 * <p>Confined to the engine thread.
 */
final class ServingOrder implements WatchRegistry.DeletionSubscriber {
    private final SeenQueue seen;
    private final TreeMap<LockNode, QueuePlace> waiting = new TreeMap<>();
    private final Set<String> watched = new HashSet<>(); // names of the nodes that the first waits for
    private boolean advancing;

    ServingOrder(SeenQueue seen) {
        this.seen = seen;
    }

    // ---- The places.

    void join(QueuePlace place) {
        waiting.put(place.self(), place);
    }

    /** Returns whether the place waited here. */
    boolean leave(QueuePlace place) {
        return waiting.remove(place.self(), place);
    }

    boolean isFirst(QueuePlace place) {
        return !waiting.isEmpty() && waiting.firstEntry().getValue() == place;
    }

    /** Decides for the first, and for those behind it as long as nothing is left to wait for. */
    void advance() {
        if (advancing) {
            return; // the loop below continues with the new first
        }
        advancing = true;
        try {
            while (!waiting.isEmpty()) {
                QueuePlace first = waiting.firstEntry().getValue();
                first.decide();
                if (isFirst(first)) {
                    return;
                }
            }
            watch(List.of()); // not before: the next in line often waits for the same nodes
        } finally {
            advancing = false;
        }
    }

    // ---- The nodes that the first waits for.

    /** Whether each node is watched here or known. */
    boolean watchesAll(List<LockNode> nodes, Predicate<LockNode> known) {
        for (LockNode node : nodes) {
            if (!watched.contains(node.name()) && !known.test(node)) {
                return false;
            }
        }
        return true;
    }

    /** The paths of the watched nodes. */
    Stream<String> watchedPaths() {
        return watched.stream().map(name -> LockPath.child(seen.path(), name));
    }

    boolean watches(String nodePath) {
        return watched.contains(LockPath.name(nodePath));
    }

    /**
     * Watches these nodes and no others. The next request usually waits for most of the same nodes, so the set passes
     * to it and only the difference is sent: the cost of a change is that of the added nodes, however many are watched.
     */
    void watch(List<LockNode> next) {
        for (LockNode node : next) {
            if (watched.add(node.name())) {
                seen.session().watches().subscribeToDeletion(LockPath.child(seen.path(), node.name()), this);
            }
        }
        if (watched.size() > next.size()) {
            retain(next);
        }
    }

    private void retain(List<LockNode> next) {
        Set<String> wanted = new HashSet<>();
        next.forEach(node -> wanted.add(node.name()));
        for (Iterator<String> each = watched.iterator(); each.hasNext(); ) {
            String name = each.next();
            if (!wanted.contains(name)) {
                each.remove();
                seen.session().watches().unsubscribeFromDeletion(LockPath.child(seen.path(), name), this);
            }
        }
    }

    @Override
    public void onWatched(String nodePath) {
        // Whether a node is watched is asked when it matters.
    }

    @Override
    public void onGone(String nodePath) {
        if (watched.remove(LockPath.name(nodePath))) {
            tellFirstOfEnd(nodePath);
        }
    }

    private void tellFirstOfEnd(String nodePath) {
        if (!waiting.isEmpty()) {
            QueuePlace first = waiting.firstEntry().getValue();
            first.waiter().guard(() -> onGone(first, nodePath));
        }
    }

    private void onGone(QueuePlace first, String nodePath) {
        Session session = seen.session();
        String name = LockPath.name(nodePath);
        if (session.nodes().awaitEnd(NodeId.in(name), () -> tellFirstOfEnd(nodePath))) {
            first.waiter().onOtherGone(nodePath);
            return; // the end of the session deletes its nodes in any order, and ours may be gone as well
        }
        seen.noteGone(name);
        if (first.isInOrder()) {
            advance();
        } else {
            first.waiter().onDoubt();
        }
    }

    @Override
    public void onRefused(String nodePath, Answer<?> answer) {
        if (watched.remove(LockPath.name(nodePath)) && !waiting.isEmpty()) {
            waiting.firstEntry().getValue().waiter().fail(ZooKeeperErrors.of(seen.path(), "watch " + nodePath, answer));
        }
    }
}
