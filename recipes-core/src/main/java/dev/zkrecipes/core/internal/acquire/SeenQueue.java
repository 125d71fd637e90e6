// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.queue.LockQueue;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.ChildrenSnapshot;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The queue of one lock path as one session has seen it: the last list, less the nodes that are known to be gone since.
 *
 * <p><b>Why a deletion is as good as a list.</b> Nodes come only behind those that were listed (but see {@link
 * QueuePlace#mayHaveNewNodeInFront}). So what is left of the list may show too many nodes in front of ours, never
 * too few, and by the first law of drivers what is granted with too many is granted with fewer. The end of our own node
 * is known first: it is watched before any predecessor is, and the events of one connection arrive in the order of the
 * changes. After a reconnect they do not, since the server goes through the watches in any order; nor do all come if
 * one is found to be missing. So until a list was taken after that, what is seen here is not {@linkplain #isInOrder in
 * order}.
 *
 * <p>Confined to the engine thread.
 */
final class SeenQueue {
    private final Session session;
    private final String path;
    private final Map<LockDriver, LockQueue> queues = new HashMap<>(); // of the list, less what is gone
    private final Set<String> goneSince = new HashSet<>();
    private ChildrenSnapshot list;
    private int listedIn;

    /** Begins with a list that was taken just now. */
    SeenQueue(Session session, String path, ChildrenSnapshot list) {
        this.session = session;
        this.path = path;
        this.list = list;
        this.listedIn = session.order();
    }

    Session session() {
        return session;
    }

    String path() {
        return path;
    }

    /**
     * Takes a list, unless the one here was answered later. An older one may lack a node whose request waits here: the
     * request would not be decided for, and nothing would wake it.
     */
    void accept(ChildrenSnapshot taken) {
        if (taken != list && taken.turn(path) >= list.turn(path)) {
            list = taken;
            listedIn = session.order();
            goneSince.clear();
            queues.clear();
        }
    }

    /** Whether nothing is known here but what this list showed. */
    boolean isAsIn(ChildrenSnapshot taken) {
        return list == taken && goneSince.isEmpty();
    }

    /** A node of the list is gone. */
    void noteGone(String name) {
        goneSince.add(name);
        queues.values().forEach(queue -> queue.remove(name));
    }

    /** The queue as this driver sees it. */
    LockQueue queue(LockSpec spec) {
        LockQueue known = queues.get(spec.driver());
        if (known == null) {
            known = LockQueue.in(list, spec).copy();
            goneSince.forEach(known::remove);
            queues.put(spec.driver(), known);
        }
        return known;
    }

    /** Whether events are heard in the order of the changes, and the rule in force is known. */
    boolean isInOrder(LockSpec spec) {
        boolean knowsRule = !spec.hasSharedRule()
                || (rule().isPresent() && session.watches().tellsContentOf(path));
        return session.isConnected() && listedIn == session.order() && knowsRule;
    }

    /** Whether the end of this node would be heard of. */
    boolean isKnownToStand(LockNode other) {
        return session.nodes().has(NodeId.in(other.name()))
                || session.watches().tellsDeletionOf(LockPath.child(path, other.name()));
    }

    /** Whether there is only one node below the path, by what is known. */
    boolean hasOneNode() {
        int left = 0;
        for (String name : list.names(path)) {
            left += goneSince.contains(name) ? 0 : 1;
            if (left > 1) {
                return false;
            }
        }
        return left == 1;
    }

    /** The data of the path, which shared rules are in. */
    Optional<Content> rule() {
        return list.rule(path);
    }
}
