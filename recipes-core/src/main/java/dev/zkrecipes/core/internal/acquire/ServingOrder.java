// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import java.util.List;
import java.util.TreeMap;

/**
 * The places in the queue of a path that are served one after another. Under drivers that serve in order ({@link
 * dev.zkrecipes.core.spi.FifoDriver}) none is granted before the first, so only the first is decided for and has its
 * predecessors watched. They all share one order. Each request under another driver has an order of its own.
 *
 * <p>Confined to the engine thread.
 */
final class ServingOrder implements PredecessorWatches.Owner {
    private final SeenQueue seen;
    private final TreeMap<LockNode, QueuePlace> waiting = new TreeMap<>();
    private final PredecessorWatches predecessors;
    private boolean advancing;

    ServingOrder(SeenQueue seen) {
        this.seen = seen;
        this.predecessors = new PredecessorWatches(seen.session().watches(), seen.path(), this);
    }

    /** The watches on the nodes that the first waits for. */
    PredecessorWatches predecessors() {
        return predecessors;
    }

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
            predecessors.moveTo(List.of()); // not before: the next in line often waits for the same nodes
        } finally {
            advancing = false;
        }
    }

    @Override
    public void onGone(String nodePath) {
        if (!waiting.isEmpty()) {
            QueuePlace first = waiting.firstEntry().getValue();
            first.waiter().guard(() -> onGone(first, nodePath));
        }
    }

    private void onGone(QueuePlace first, String nodePath) {
        Session session = seen.session();
        String name = LockPath.name(nodePath);
        if (session.nodes().awaitEnd(NodeId.in(name), () -> onGone(nodePath))) {
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
        if (!waiting.isEmpty()) {
            waiting.firstEntry().getValue().waiter().fail(ZooKeeperErrors.of(seen.path(), "watch " + nodePath, answer));
        }
    }
}
