// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.node.OwnNode;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.queue.RuleVersion;
import dev.zkrecipes.core.internal.session.ChildrenSnapshot;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.WatchRegistry;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The requests of this client that wait in the queue of one lock path, and what they know of it together: the {@link
 * SeenQueue}. Each has a {@link QueuePlace}, and a {@link ServingOrder} says for which of them to decide.
 *
 * <p>Confined to the engine thread.
 */
final class QueueView {
    private final Session session;
    private final SeenQueue seen;
    private final Runnable onEmpty;
    private final Set<QueuePlace> places = new LinkedHashSet<>();
    private final ServingOrder servedInOrder;
    private @Nullable RuleWatch ruleWatch;
    private @Nullable RuleVersion decidedBy; // none before a list had a rule

    /**
     * Begins with a list that was taken just now.
     *
     * @param onEmpty run when nobody waits here any more
     */
    QueueView(Session session, String path, ChildrenSnapshot list, Runnable onEmpty) {
        this.session = session;
        this.seen = new SeenQueue(session, path, list);
        this.onEmpty = onEmpty;
        this.servedInOrder = new ServingOrder(seen);
        noteRule();
    }

    /** Takes a list that was taken just now. It may bring a new rule before the watch of the rule does. */
    void accept(ChildrenSnapshot taken) {
        seen.accept(taken);
        noteRule();
    }

    // ---- The requests that wait.

    /**
     * Gives a node of ours, which is in the list, a place here. Its {@linkplain QueuePlace#watch watches} are to begin
     * at once. No decision is made for it before it {@linkplain QueuePlace#enter enters}.
     */
    QueuePlace enter(LockSpec spec, OwnNode node, LockNode self, Waiter waiter) {
        ServingOrder order = spec.isFifo() ? servedInOrder : new ServingOrder(seen);
        QueuePlace place = new QueuePlace(this, seen, order, spec, node, self, waiter);
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
                session.watches().unsubscribeLater(seen.path(), ruleWatch);
                ruleWatch = null;
            }
            onEmpty.run();
        }
    }

    // ---- The rule, if it is shared.

    /** Watches the data of the path, by which the drivers decide. */
    void watchRule() {
        if (ruleWatch == null) {
            ruleWatch = new RuleWatch();
            session.watches().subscribe(seen.path(), ruleWatch);
        }
    }

    /** Another rule than before puts all in doubt. A list for requests without a rule lacks it, and changes nothing. */
    private void noteRule() {
        Optional<RuleVersion> listed = seen.rule().map(rule -> RuleVersion.of(rule.stat()));
        if (listed.isPresent() && !listed.get().equals(decidedBy)) {
            boolean isNew = decidedBy != null;
            decidedBy = listed.get();
            if (isNew) {
                putInDoubt();
            }
        }
    }

    private void putInDoubt() {
        List.copyOf(places).forEach(place -> place.waiter().onDoubt());
    }

    /** Watches the data of the path, by which the drivers decide. */
    private final class RuleWatch implements WatchRegistry.Subscriber {
        @Override
        public void onRead(String rulePath, Content content) {
            if (decidedBy != null && !decidedBy.equals(RuleVersion.of(content.stat()))) {
                putInDoubt();
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
                    .forEach(place -> place.waiter().fail(ZooKeeperErrors.of(rulePath, "watch " + rulePath, answer)));
        }
    }

    /**
     * The places that are served one after another. Under drivers that serve in order ({@link
     * dev.zkrecipes.core.spi.FifoDriver}) none is granted before the first, so only the first is decided for and has
     * its predecessors watched. They all share one order. Each request under another driver has an order of its own.
     */
    static final class ServingOrder implements WatchRegistry.DeletionSubscriber {
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

        /**
         * Watches these nodes and no others. The next request usually waits for most of the same nodes, so the set
         * passes to it and only the difference is sent: the cost of a change is that of the added nodes, however many
         * are watched.
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
                waiting.firstEntry()
                        .getValue()
                        .waiter()
                        .fail(ZooKeeperErrors.of(seen.path(), "watch " + nodePath, answer));
            }
        }
    }
}
