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
 * The queue of one lock path as one session sees it, and the requests of this client that wait in it. What is seen is
 * the last list, less the nodes that are known to be gone since. Each request has a {@link QueuePlace}, and a
 * {@link ServingOrder} says for which place to decide.
 *
 * <p><b>Why a deletion is as good as a list.</b> New nodes come only behind those that were listed (but see
 * {@link QueuePlace#mayHaveNewNodeInFront}). So what is left of the list may show too many nodes in front of ours,
 * never too few. By the first law of drivers, what is granted with too many nodes in front is granted with fewer. The
 * end of our own node is known first: our node is watched before any predecessor is, and the events of one connection
 * arrive in the order of the changes. After a reconnect they do not, since the server goes through the watches in any
 * order. They are not complete, either, once an event was found to be missing. So until the next list was taken after
 * that, what is seen here is not {@linkplain #isInOrder in order}.
 *
 * <p>Confined to the engine thread.
 */
final class QueueView implements WatchRegistry.Subscriber {

    final Session session;
    final String path;
    private final NodeCleaner cleaner;
    private final Runnable onEmpty; // when nobody waits here any more
    final Set<QueuePlace> places = new LinkedHashSet<>();
    private final ServingOrder servedInOrder = new ServingOrder(); // shared by the places of FIFO drivers
    private final Map<LockDriver, LockQueue> queues = new HashMap<>(); // of the list, less what is gone
    private final Set<String> goneSince = new HashSet<>(); // names in the list whose nodes are gone
    private ChildrenSnapshot list;
    private int listedIn; // what Session.order() was when the list was taken
    private long decidedBy = -1; // the mzxid of the rule, once a list had one
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
     * Takes over a list, unless the one here is later. An older list may lack a node that waits here, which would
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

    /** Whether this list is all that is known here. */
    boolean isAsIn(ChildrenSnapshot taken) {
        return list == taken && goneSince.isEmpty();
    }

    /** The queue as the driver of this lock sees it. */
    LockQueue queue(LockSpec spec) {
        LockQueue known = queues.get(spec.driver());
        if (known == null) {
            known = list.queue(spec).without(goneSince);
            queues.put(spec.driver(), known);
        }
        return known;
    }

    /** A node of the list is gone. */
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

    /** Whether the end of this node would be heard of: it is one of this session, or it is watched. */
    boolean isKnownToStand(LockNode other) {
        return session.nodes().has(NodeId.in(other.name()))
                || session.watches().tellsDeletionOf(LockPath.child(path, other.name()));
    }

    /** Whether there is only one node below the path, as far as is known. */
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
     * Gives a node of ours, which is in the list, a place here. The place has to {@linkplain QueuePlace#watch watch}
     * before it enters.
     */
    QueuePlace place(LockSpec spec, OwnNode node, LockNode self, QueuePlace.Waiter waiter) {
        ServingOrder order = spec.isFifo() ? servedInOrder : new ServingOrder();
        QueuePlace place = new QueuePlace(this, order, spec, node, self, waiter);
        places.add(place);
        return place;
    }

    /**
     * Ends the view when nobody waits here any more. The watch of the rule stays a while: the next waiter may come
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
     * Notes the rule of the list. If it differs from the last one, all requests are in doubt. A list that was taken
     * for requests without a shared rule brings no rule, and changes nothing.
     */
    private void noteRule() {
        long before = decidedBy;
        decidedBy = rule().map(rule -> rule.stat().getMzxid()).orElse(before);
        if (before >= 0 && before != decidedBy) {
            putInDoubt();
        }
    }

    /** Puts all requests in doubt. Each of them may leave at once, so this goes through a copy. */
    private void putInDoubt() {
        List.copyOf(places).forEach(place -> place.waiter.onDoubt());
    }

    /**
     * The watch of the rule has read it. If it differs from the one by which the drivers decided, all are in doubt.
     */
    @Override
    public void onRead(String rulePath, Content content) {
        if (decidedBy >= 0 && decidedBy != content.stat().getMzxid()) {
            putInDoubt();
        }
    }

    /** The path is gone, and so are our nodes: their own watches tell. */
    @Override
    public void onGone(String rulePath) {
        watchesRule = false;
    }

    /**
     * Each request gets an error of its own, because the thread that hears of it puts its stack trace into the error.
     */
    @Override
    public void onRefused(String rulePath, Answer<?> answer) {
        watchesRule = false;
        List.copyOf(places)
                .forEach(place -> place.waiter.fail(ZooKeeperErrors.of(rulePath, "watch " + rulePath, answer)));
    }

    /**
     * The places that are served one after another. Drivers that serve in order
     * ({@link dev.zkrecipes.core.spi.FifoDriver}) grant none before the first, so only the first is decided for and
     * has its predecessors watched. All places of such drivers share one order. Each request under another driver has
     * an order of its own.
     *
     * <p>Each deletion of a predecessor arrives in {@link #onGone(String)}, from which the driver is asked again.
     */
    final class ServingOrder implements WatchRegistry.Subscriber {
        private final TreeMap<LockNode, QueuePlace> waiting = new TreeMap<>();
        private final Set<String> watched = new HashSet<>(); // names of the nodes that the first waits for
        private boolean advancing; // whether the loop in advance() is at work

        // ---- The places.

        void join(QueuePlace place) {
            waiting.put(place.self, place);
        }

        /** Returns whether the place waited here. */
        boolean leave(QueuePlace place) {
            return waiting.remove(place.self, place);
        }

        boolean isFirst(QueuePlace place) {
            return !waiting.isEmpty() && waiting.firstEntry().getValue() == place;
        }

        /** Decides for the first place. If it leaves, decides for the next one, and so on. */
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

        /** Whether the end of each of these nodes would be heard of. */
        boolean hearsOf(List<LockNode> nodes) {
            for (LockNode node : nodes) {
                if (!watched.contains(node.name()) && !isKnownToStand(node)) {
                    return false;
                }
            }
            return true;
        }

        /**
         * Watches these nodes and no others. The next place usually waits for most of the nodes that are watched
         * already, so only the difference is sent.
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
         * Tells the first place that a node is gone. An exception on the way fails only the request of that place.
         */
        private void tellFirstOfEnd(String nodePath) {
            if (!waiting.isEmpty()) {
                QueuePlace first = waiting.firstEntry().getValue();
                first.waiter.guard(() -> onGone(first, nodePath));
            }
        }

        /**
         * A node that was waited for is gone. If it belongs to this session, that may be the end of the session,
         * which deletes its nodes in any order: ours may be gone as well. Then the answer to a request of the session
         * is awaited, which shows that the session lives; whoever holds the node, or deletes it, hears of it at once.
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
