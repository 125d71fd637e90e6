// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.node.OwnNode;
import dev.zkrecipes.core.internal.queue.LockQueue;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.queue.RuleVersion;
import dev.zkrecipes.core.internal.session.ChildrenSnapshot;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.WatchRegistry;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The queue of one lock path as one session knows it: the last list, less the nodes that are known to be gone since.
 * All requests of this client that wait on the path share it. Each has a {@link QueuePlace} in it, and a {@link
 * ServingOrder} says for which of them to decide.
 *
 * <p><b>Why a deletion is as good as a list.</b> Nodes come only behind those that were listed (but see {@link
 * QueuePlace#mayHaveNewNodeInFront}). So what is left of the list may show too many nodes in front of ours, never
 * too few, and by the first law of drivers what is granted with too many is granted with fewer. The end of our own node
 * is known first: it is watched before any predecessor is, and the events of one connection arrive in the order of the
 * changes. After a reconnect they do not, since the server goes through the watches in any order. So until a list was
 * taken on the new connection, an event leaves the request in {@linkplain Waiter#onDoubt doubt}.
 *
 * <p>Confined to the engine thread.
 */
final class QueueView {

    /** A request, as the view sees it. */
    interface Waiter {
        /** The driver grants, by what the view knows. */
        void onTurn();

        /** Our own node is gone: somebody deleted it. */
        void onVanished();

        /** Something has changed, and only a new list tells what that means. */
        void onDoubt();

        /** Runs a part of the request's work; an exception from it fails the request. */
        void guard(Runnable work);

        /** The request cannot be granted. It leaves. */
        void fail(LockException why);
    }

    private final Session session;
    private final String path;
    private final Runnable onEmpty;
    private final Set<QueuePlace> places = new LinkedHashSet<>();
    private final ServingOrder servedInOrder;
    private final Map<LockDriver, LockQueue> queues = new HashMap<>(); // of the list, less what is gone
    private ChildrenSnapshot list;
    private int listedOn;
    private final Set<String> goneSince = new HashSet<>();
    private @Nullable RuleWatch ruleWatch;

    /**
     * Begins with a list that was taken just now.
     *
     * @param onEmpty run when nobody waits here any more
     */
    QueueView(Session session, String path, ChildrenSnapshot list, Runnable onEmpty) {
        this.session = session;
        this.path = path;
        this.onEmpty = onEmpty;
        this.list = list;
        this.listedOn = session.connection();
        this.servedInOrder = new ServingOrder(this);
    }

    Session session() {
        return session;
    }

    String path() {
        return path;
    }

    // ---- What is known of the queue.

    /** Takes a list that was taken just now. */
    void accept(ChildrenSnapshot taken) {
        if (taken != list) {
            list = taken;
            listedOn = session.connection();
            goneSince.clear();
            queues.clear();
        }
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
                || (list.rule(path).isPresent() && session.watches().tellsContentOf(path));
        return session.isConnected() && listedOn == session.connection() && knowsRule;
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

    // ---- The requests that wait.

    /**
     * Gives a node of ours, which is in the list, a place here. Its {@linkplain QueuePlace#watch watches} are to begin
     * at once. No decision is made for it before it {@linkplain QueuePlace#ask asks}.
     */
    QueuePlace enter(LockSpec spec, OwnNode node, LockNode self, Waiter waiter) {
        ServingOrder order = spec.isFifo() ? servedInOrder : new ServingOrder(this);
        QueuePlace place = new QueuePlace(this, order, spec, node, self, waiter);
        places.add(place);
        return place;
    }

    boolean has(QueuePlace place) {
        return places.contains(place);
    }

    /** Returns whether the place was here. */
    boolean remove(QueuePlace place) {
        return places.remove(place);
    }

    void endIfEmpty() {
        if (places.isEmpty()) {
            if (ruleWatch != null) {
                session.watches().unsubscribeLater(path, ruleWatch);
                ruleWatch = null;
            }
            onEmpty.run();
        }
    }

    // ---- The rule, if it is shared.

    void watchRule() {
        if (ruleWatch == null) {
            ruleWatch = new RuleWatch();
            session.watches().subscribe(path, ruleWatch);
        }
    }

    /** Watches the data of the path, by which the drivers decide. */
    private final class RuleWatch implements WatchRegistry.Subscriber {
        @Override
        public void onRead(String rulePath, Content content) {
            Optional<RuleVersion> decidedBy = rule().map(rule -> RuleVersion.of(rule.stat()));
            if (decidedBy.isPresent() && !decidedBy.get().equals(RuleVersion.of(content.stat()))) {
                List.copyOf(places).forEach(place -> place.waiter().onDoubt());
            }
        }

        /** Our nodes are gone too then, and their own watches tell. */
        @Override
        public void onGone(String rulePath) {
            ruleWatch = null;
        }

        @Override
        public void onRefused(String rulePath, Answer<?> answer) {
            ruleWatch = null;
            // Each is told by an error of its own, which gets the stack trace of its thread.
            List.copyOf(places)
                    .forEach(place -> place.waiter().fail(ZooKeeperErrors.of(path, "watch " + rulePath, answer)));
        }
    }
}
