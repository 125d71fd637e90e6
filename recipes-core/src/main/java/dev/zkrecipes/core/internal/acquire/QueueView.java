// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.clean.NodeCleaner;
import dev.zkrecipes.core.internal.clean.OwnNode;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.LockQueue;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.reads.WatchRegistry;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The queue of one lock path as one session sees it, and the requests of this client that wait in it. The view is the
 * last list, less the nodes that are known to be gone since then. Each request has a {@link QueuePlace}, and a
 * {@link ServingOrder} determines for which place to decide.
 *
 * <p><b>Why a deletion is as good as a list.</b> New nodes are added only behind those that were listed (but see
 * {@link QueuePlace#mayHaveNewNodeInFront}). So the view may show too many nodes in front of ours, never too few. By
 * the first law of drivers, a request that is granted with too many nodes in front is also granted with fewer. The
 * deletion of our own node is not missed: a request is granted without a list only while its node is watched, and the
 * events of one connection arrive in the order of the changes.
 *
 * <p>That order is lost in two cases. After a reconnect, the server goes through the watches in any order. Once an
 * event was found to be missing, others may be missing, too. Until the next list was taken after that, the view is not
 * {@linkplain #isInOrder in order}, and a deletion alone grants nothing.
 */
final class QueueView implements WatchRegistry.Subscriber {

    final Session session;
    final String path;
    private final NodeCleaner cleaner;
    private final Runnable onEmpty; // runs when nobody waits here any more
    final Set<QueuePlace> places = new LinkedHashSet<>();
    private final ServingOrder servedInOrder = new ServingOrder(); // shared by the places of FIFO drivers
    private final Map<LockDriver, LockQueue> queues = new HashMap<>(); // by driver; without the nodes that are gone
    private final Set<String> goneSince = new HashSet<>(); // names of listed nodes that are gone
    private ChildrenSnapshot list;
    private int listedIn; // Session.order() when the list was taken
    private long decidedBy = -1; // mzxid of the last listed rule; negative before the first
    private boolean watchesRule;

    /** Begins with a list that was taken just now. {@code onEmpty} runs when nobody waits here any more. */
    QueueView(Session session, String path, ChildrenSnapshot list, NodeCleaner cleaner, Runnable onEmpty) {
        this.session = session;
        this.path = path;
        this.cleaner = cleaner;
        this.onEmpty = onEmpty;
        this.list = list;
        this.listedIn = session.order();
        noteRule();
    }

    // ---- What is seen.

    /**
     * Replaces the list, unless the present one is later. An older list may lack a node that waits here, which would
     * then never be woken.
     */
    void accept(ChildrenSnapshot taken) {
        if (taken != list && taken.turn(path) >= list.turn(path)) {
            list = taken;
            listedIn = session.order();
            goneSince.clear();
            queues.clear();
            // A list may bring a new rule before the watch of the rule does.
            noteRule();
        }
    }

    /** Whether this is the present list, and no node in it is known to be gone. */
    boolean isAsIn(ChildrenSnapshot taken) {
        return list == taken && goneSince.isEmpty();
    }

    /** Returns the queue as the driver of this lock sees it. */
    LockQueue queue(LockSpec spec) {
        LockQueue known = queues.get(spec.driver());
        if (known == null) {
            known = list.queue(spec).without(goneSince);
            queues.put(spec.driver(), known);
        }
        return known;
    }

    /** Records that a listed node is gone. */
    private void noteGone(String name) {
        goneSince.add(name);
        queues.values().forEach(queue -> queue.remove(name));
    }

    /** Whether events arrive in the order of the changes, and the rule in force is known. */
    boolean isInOrder(LockSpec spec) {
        boolean knowsRule = !spec.hasSharedRule()
                || (rule().isPresent() && session.watches().tellsContentOf(path));
        return session.isConnected() && listedIn == session.order() && knowsRule;
    }

    /** Whether the deletion of this node would be noticed, because the node belongs to this session or is watched. */
    boolean isKnownToStand(LockNode other) {
        return session.nodes().has(NodeId.in(other.name()))
                || session.watches().tellsDeletionOf(LockPath.child(path, other.name()));
    }

    /** Whether exactly one node is known to exist below the path. */
    boolean hasOneNode() {
        return list.names(path).stream()
                        .filter(name -> !goneSince.contains(name))
                        .limit(2)
                        .count()
                == 1;
    }

    Optional<Content> rule() {
        return list.rule(path);
    }

    // ---- The requests that wait.

    /**
     * Creates a place for a node of ours, which is in the list. The place has to {@linkplain QueuePlace#watch watch}
     * before it enters.
     */
    QueuePlace place(LockSpec spec, OwnNode node, LockNode self, QueuePlace.Waiter waiter) {
        ServingOrder order = spec.isFifo() ? servedInOrder : new ServingOrder();
        QueuePlace place = new QueuePlace(this, order, spec, node, self, waiter);
        places.add(place);
        return place;
    }

    /**
     * Ends the view if nobody waits here any more. The watch of the rule stays for a while: the next waiter may come
     * soon, and would have to set it again.
     */
    void endIfEmpty() {
        if (places.isEmpty()) {
            if (watchesRule) {
                session.watches().unsubscribeLater(path, this);
                watchesRule = false;
            }
            onEmpty.run();
        }
    }

    // ---- The rule, if it is shared: the data of the path, by which the drivers decide.

    void watchRule() {
        if (!watchesRule) {
            watchesRule = true;
            session.watches().subscribe(path, this);
        }
    }

    /**
     * Records the rule of the list. If it differs from the last one, puts all requests in doubt. A list that was taken
     * for requests without a shared rule has no rule, and changes nothing.
     */
    private void noteRule() {
        long before = decidedBy;
        decidedBy = rule().map(rule -> rule.stat().getMzxid()).orElse(before);
        if (before >= 0 && before != decidedBy) {
            putInDoubt();
        }
    }

    /** Puts all requests in doubt. Iterates over a copy, because each of them may leave at once. */
    private void putInDoubt() {
        List.copyOf(places).forEach(place -> place.waiter.onDoubt());
    }

    /**
     * Called when the watch has read the rule. If that differs from the rule by which the drivers decided, puts all
     * requests in doubt.
     */
    @Override
    public void onRead(String rulePath, Content content) {
        if (decidedBy >= 0 && decidedBy != content.stat().getMzxid()) {
            putInDoubt();
        }
    }

    /** Called when the path is gone. Our nodes are gone as well, which their own watches report. */
    @Override
    public void onGone(String rulePath) {
        watchesRule = false;
    }

    /**
     * Fails all requests. Each gets an exception of its own, because the thread that receives it adds its stack trace.
     */
    @Override
    public void onRefused(String rulePath, Answer<?> answer) {
        watchesRule = false;
        List.copyOf(places)
                .forEach(place -> place.waiter.fail(ZooKeeperErrors.of(rulePath, "watch " + rulePath, answer)));
    }

    /**
     * The places that are served one after another. Drivers that serve in order
     * ({@link dev.zkrecipes.core.spi.FifoDriver}) grant no place before the first. So only the first place is decided
     * for, and only its predecessors are watched. All places of such drivers share one order. Each place of another
     * driver has an order of its own.
     *
     * <p>The deletion of a watched predecessor arrives in {@link #onGone(String)}, which asks the driver again.
     */
    final class ServingOrder implements WatchRegistry.Subscriber {
        private final TreeMap<LockNode, QueuePlace> waiting = new TreeMap<>();
        private final Set<String> watched = new HashSet<>(); // names of the nodes that the first place waits for
        private boolean advancing; // whether the loop in advance() is running

        // ---- The places.

        void join(QueuePlace place) {
            waiting.put(place.self, place);
        }

        /** Removes the place. Returns whether it was waiting here. */
        boolean leave(QueuePlace place) {
            return waiting.remove(place.self, place);
        }

        boolean isFirst(QueuePlace place) {
            return !waiting.isEmpty() && waiting.firstEntry().getValue() == place;
        }

        /** Decides for the first place. If it leaves, decides for the next one, and so on. */
        void advance() {
            if (advancing) {
                return; // the loop below continues with the new first place
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
                watch(List.of()); // not earlier: the next in line often waits for the same nodes
            } finally {
                advancing = false;
            }
        }

        // ---- The nodes that the first waits for.

        /** Whether the deletion of each of these nodes would be noticed. */
        boolean hearsOf(List<LockNode> nodes) {
            for (LockNode node : nodes) {
                if (!watched.contains(node.name()) && !isKnownToStand(node)) {
                    return false;
                }
            }
            return true;
        }

        /**
         * Watches exactly these nodes. The next place usually waits for most of the nodes that are already watched, so
         * only the difference is sent.
         */
        void watch(List<LockNode> next) {
            for (LockNode node : next) {
                if (watched.add(node.name())) {
                    session.watches().subscribeToDeletion(LockPath.child(path, node.name()), this);
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
                    session.watches().unsubscribeFromDeletion(LockPath.child(path, name), this);
                }
            }
        }

        @Override
        public void onGone(String nodePath) {
            if (watched.remove(LockPath.name(nodePath))) {
                tellFirstOfEnd(nodePath);
            }
        }

        /**
         * Notifies the first place that a node is gone. An exception on the way fails only the request of that place.
         */
        private void tellFirstOfEnd(String nodePath) {
            if (!waiting.isEmpty()) {
                QueuePlace first = waiting.firstEntry().getValue();
                first.waiter.guard(() -> onGone(first, nodePath));
            }
        }

        /**
         * Handles the deletion of a node that the first place waited for. If the node belongs to this session, the
         * deletion may be due to the end of the session, which deletes its nodes in any order: ours may be gone as
         * well. Then the place waits for the answer to a request of this session, which shows that the session is
         * alive. Whoever holds or deletes the node is notified at once.
         */
        private void onGone(QueuePlace first, String nodePath) {
            String name = LockPath.name(nodePath);
            if (session.nodes().awaitEnd(NodeId.in(name), () -> tellFirstOfEnd(nodePath))) {
                session.keepAlive().onNodeGone(nodePath);
                cleaner.onNodeGone(nodePath);
                return;
            }
            noteGone(name);
            if (first.isInOrder()) {
                advance();
            } else {
                first.waiter.onDoubt();
            }
        }

        @Override
        public void onRefused(String nodePath, Answer<?> answer) {
            if (watched.remove(LockPath.name(nodePath)) && !waiting.isEmpty()) {
                waiting.firstEntry().getValue().waiter.fail(ZooKeeperErrors.of(path, "watch " + nodePath, answer));
            }
        }
    }
}
