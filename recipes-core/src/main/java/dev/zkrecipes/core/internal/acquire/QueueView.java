// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockRefusedException;
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
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The queue of one lock path as one session knows it: the last list, less the nodes that are known to be gone since. It
 * decides for all requests of this client that wait on the path.
 *
 * <p><b>Why a deletion is as good as a list.</b> Nodes come only behind those that were listed (but see {@link
 * Place#mayHaveSomebodyNewInFront}), so what is left
 * of the list may show too many nodes in front of ours, never too few, and by the first law of drivers what is granted with
 * too many is granted with fewer. That our own node is gone is known first: it is watched before any predecessor is, and the
 * events of one connection come in the order of the changes. They do not after a reconnect, when the server goes through the
 * watches in any order; so until a list was taken on the new connection, an event leaves the request in {@linkplain
 * Waiter#onDoubt doubt}.
 *
 * <p><b>What is watched.</b> Unwatched nodes in front may have gone since the list without our knowing. So when what a
 * request waited for is gone and more is in front of it than was watched, it is in doubt too: one list is cheaper than to try
 * them one by one. Our own node is watched at once if the request is next in line, since only then a deletion can be a grant;
 * else when it has waited for a while.
 *
 * <p><b>Behind somebody who waits.</b> Where requests are served in order, a request that stands behind another waiting one
 * watches what that one waits for, not that one itself. When such a node is gone, the one in front is granted, and while it
 * holds, ours prepares: it watches its own node and the one in front, and takes a list if more was in front than is accounted
 * for. So the next deletion is a grant, and no list lies between the two. This decides when requests are sent, never who is
 * granted: what is watched blocks ours too, whatever the one in front does.
 *
 * <p><b>Who is decided for.</b> Under drivers that serve in order ({@link dev.zkrecipes.core.spi.FifoDriver}) nobody is
 * granted before the first who waits, so only that one is decided for and has its predecessors watched. Each request under
 * another driver has an order of its own.
 *
 * <p>Confined to the engine thread.
 */
final class QueueView {

    /** A request, as the view sees it. */
    interface Waiter {
        /** By what the view knows, the driver grants. */
        void onTurn();

        /** Our own node is gone: somebody deleted it. */
        void onVanished();

        /** Something has changed, and only a new list tells what that means. */
        void onDoubt();

        /** Runs a part of the request's work; what that throws fails the request. */
        void guard(Runnable work);

        /** The request cannot be granted. It leaves. */
        void fail(LockException why);
    }

    private final Session session;
    private final String path;
    private final Runnable onEmpty;
    private final Set<Place> places = new LinkedHashSet<>();
    private final Order servedInOrder;
    private final Map<LockDriver, LockQueue> queues = new HashMap<>(); // of the list, less who is gone
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
        this.servedInOrder = new Order();
    }

    /** Takes a list that was taken just now. */
    void accept(ChildrenSnapshot taken) {
        if (taken != list) {
            list = taken;
            listedOn = session.connection();
            goneSince.clear();
            queues.clear();
        }
    }

    /**
     * Gives a node of ours, which is in the list, a place here. Its {@linkplain Place#watch watches} are to begin at once, and
     * it is not decided for before it {@linkplain Place#ask asks}.
     */
    Place enter(LockSpec spec, OwnNode node, LockNode self, Waiter waiter) {
        Place place = new Place(spec, node, self, waiter);
        places.add(place);
        return place;
    }

    private LockQueue queue(LockSpec spec) {
        LockQueue known = queues.get(spec.driver());
        if (known == null) {
            known = LockQueue.in(list, spec).copy();
            goneSince.forEach(known::remove);
            queues.put(spec.driver(), known);
        }
        return known;
    }

    /** Whom the driver serves one after the other: all requests under drivers that serve in order, or one under another driver. */
    private final class Order implements PredecessorWatches.Owner {
        private final TreeMap<LockNode, Place> waiting = new TreeMap<>();
        private final PredecessorWatches predecessors = new PredecessorWatches(session.watches(), path, this);
        private boolean advancing;

        void join(Place place) {
            waiting.put(place.self, place);
        }

        boolean leave(Place place) {
            return waiting.remove(place.self, place);
        }

        boolean isFirst(Place place) {
            return !waiting.isEmpty() && waiting.firstEntry().getValue() == place;
        }

        /** Decides for the first, and for those behind it as long as there is nobody left to wait for. */
        void advance() {
            if (advancing) {
                return; // the loop below continues with whoever is first then
            }
            advancing = true;
            try {
                while (!waiting.isEmpty()) {
                    Place first = waiting.firstEntry().getValue();
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
                Place first = waiting.firstEntry().getValue();
                first.waiter.guard(() -> onGone(first, nodePath));
            }
        }

        private void onGone(Place first, String nodePath) {
            String name = LockPath.name(nodePath);
            if (session.nodes().awaitEnd(NodeId.in(name), () -> onGone(nodePath))) {
                session.leases().onNodeGone(nodePath);
                return; // the end of the session deletes its nodes in any order, and ours may be gone as well
            }
            goneSince.add(name);
            queues.values().forEach(queue -> queue.remove(name));
            if (first.isInOrder()) {
                advance();
            } else {
                first.waiter.onDoubt();
            }
        }

        @Override
        public void onRefused(String nodePath, Answer<?> answer) {
            if (!waiting.isEmpty()) {
                waiting.firstEntry().getValue().waiter.fail(ZooKeeperErrors.of(path, "watch " + nodePath, answer));
            }
        }
    }

    /** A node of ours and the request behind it. */
    final class Place {
        private final LockSpec spec;
        private final OwnNode node;
        private final LockNode self;
        private final Waiter waiter;
        private final Order order;
        private final OwnWatch ownWatch = new OwnWatch(this);
        private boolean granted;
        private boolean ownIsWatched;
        private boolean isBehindWaiter; // and watches what that one waits for
        private @Nullable Timer untilOwnIsWatched;

        private Place(LockSpec spec, OwnNode node, LockNode self, Waiter waiter) {
            this.spec = spec;
            this.node = node;
            this.self = self;
            this.waiter = waiter;
            this.order = spec.isFifo() ? servedInOrder : new Order();
        }

        /** Begins to watch the rule, and in a while our own node. */
        void watch() {
            untilOwnIsWatched = session.afterAWhile(() -> waiter.guard(this::watchOwnNode));
            if (spec.hasSharedRule() && ruleWatch == null) {
                ruleWatch = new RuleWatch();
                session.watches().subscribe(path, ruleWatch);
            }
        }

        /** Decides now, if it is its turn, and from now on whenever that may change the decision. */
        void ask() {
            granted = false;
            order.join(this);
            if (order.isFirst(this) && decision(true) instanceof Decision.Granted) {
                granted = true;
                order.leave(this);
                order.advance();
            }
        }

        /** Whether the driver grants by what the view knows. Once it does, it does until the next {@link #ask}. */
        boolean isGranted() {
            return granted;
        }

        /** Whether the node was there when everything had happened that the view knows of. */
        boolean isStanding() {
            return session.watches().tellsDeletionOf(node.path()) && isInOrder();
        }

        /** Whether what happens is seen in the order in which it happens, and under the rule of that time. */
        private boolean isInOrder() {
            boolean knowsRule = !spec.hasSharedRule()
                    || (list.rule(path).isPresent() && session.watches().tellsContentOf(path));
            return session.isConnected() && listedOn == session.connection() && knowsRule;
        }

        /** Whether a node that came after the list may stand in front and keep this one from being granted. */
        boolean mayHaveSomebodyNewInFront() {
            Optional<LockNode> inFront = spec.nodeInFrontOf(self);
            return inFront.isPresent() && queue(spec).wouldBeBlockedBy(inFront.get(), self);
        }

        /** The data of the path that it is decided by. */
        Optional<Content> rule() {
            return list.rule(path);
        }

        /** Whether there is no other node below the path by what the view knows. */
        boolean isAlone() {
            int left = 0;
            for (String name : list.names(path)) {
                left += goneSince.contains(name) ? 0 : 1;
                if (left > 1) {
                    return false;
                }
            }
            return left == 1;
        }

        /**
         * The request does not wait here any more. The watch of its node stays until the node is gone: to drop it would cost a
         * request, and the next in order may wait for this very node.
         *
         * @param whenNodeIsGone run then, if the session lives
         */
        void leave(Runnable whenNodeIsGone) {
            if (places.remove(this)) {
                endTimer();
                ownWatch.leave(whenNodeIsGone);
                if (order.leave(this)) {
                    order.advance();
                }
                if (places.isEmpty()) {
                    endRuleWatch();
                    onEmpty.run();
                }
            }
        }

        private void decide() {
            waiter.guard(() -> {
                if (decision(false) instanceof Decision.Granted) {
                    granted = true;
                    order.leave(this);
                    waiter.onTurn();
                }
            });
        }

        private void watchOwnNode() {
            endTimer();
            if (!ownIsWatched && places.contains(this)) {
                ownIsWatched = true;
                session.watches().subscribeToDeletion(node.path(), ownWatch);
            }
        }

        private void endTimer() {
            if (untilOwnIsWatched != null) {
                untilOwnIsWatched.cancel();
                untilOwnIsWatched = null;
            }
        }

        /** Whether it was told if the node were gone. */
        private boolean isKnownToStand(LockNode other) {
            return session.nodes().has(NodeId.in(other.name()))
                    || session.watches().tellsDeletionOf(LockPath.child(path, other.name()));
        }

        /**
         * Asks the driver, and watches what it waits for.
         *
         * @param fresh whether the list was taken just now
         */
        private Decision decision(boolean fresh) {
            LockQueue queue = queue(spec);
            if (!queue.contains(self)) {
                return new Decision.WaitFor(List.of(self)); // gone: its own watch tells, now or when it is set
            }
            Decision decision = queue.decideOnOwn(self);
            if (decision instanceof Decision.Never never) {
                throw new LockRefusedException("the lock " + path + " refuses this request: " + never.reason());
            } else if (decision instanceof Decision.WaitFor wait) {
                await(wait.nodes(), queue, fresh);
            }
            return decision;
        }

        /**
         * Watches what keeps the request from being granted, or asks for a list.
         *
         * @param blocking what the driver waits for
         */
        private void await(List<LockNode> blocking, LockQueue queue, boolean fresh) {
            List<LockNode> blockingBoth = mayPrepare() ? queue.blockingNeighbourToo(self, blocking) : List.of();
            boolean prepares = !fresh && isBehindWaiter; // what it watched, for which the one in front waited, is gone
            isBehindWaiter = !blockingBoth.isEmpty();
            List<LockNode> next = isBehindWaiter ? blockingBoth : blocking;
            boolean isKnown = fresh
                    || order.predecessors.haveAll(next, this::isKnownToStand)
                    || (prepares && !isBehindWaiter && queue.wouldGrantWithout(next, self));
            if (isKnown) {
                watch(next, !isBehindWaiter && !ownIsWatched && queue.wouldGrantWithout(next, self));
                return;
            }
            if (prepares) {
                isBehindWaiter = false; // once is enough
                watch(blocking, true);
            }
            waiter.onDoubt();
        }

        private void watch(List<LockNode> next, boolean ownToo) {
            if (ownToo) {
                watchOwnNode(); // first: then its end is known first
            }
            order.predecessors.moveTo(next);
        }

        /** Whether a deletion alone can grant. Where nodes may appear in front it takes a list anyway. */
        private boolean mayPrepare() {
            return spec.isFifo() && spec.nodeInFrontOf(self).isEmpty();
        }
    }

    /** Watches a node of ours; first for the request that waits with it, then for whoever has the node. */
    private static final class OwnWatch implements WatchRegistry.DeletionSubscriber {
        private @Nullable Place place;
        private Runnable whenGone = () -> {};

        OwnWatch(Place place) {
            this.place = place;
        }

        /** Forgets the request, which may be much larger than what outlives it. */
        void leave(Runnable whenNodeIsGone) {
            place = null;
            whenGone = whenNodeIsGone;
        }

        @Override
        public void onWatched(String nodePath) {
            // Whether it is set is asked when a grant depends on it.
        }

        @Override
        public void onGone(String nodePath) {
            if (place != null) {
                place.waiter.onVanished();
            } else {
                whenGone.run();
            }
        }

        @Override
        public void onRefused(String nodePath, Answer<?> answer) {
            if (place != null) {
                place.waiter.fail(ZooKeeperErrors.of(LockPath.parent(nodePath), "watch " + nodePath, answer));
            }
        }
    }

    private void endRuleWatch() {
        if (ruleWatch != null) {
            session.watches().unsubscribeLater(path, ruleWatch);
            ruleWatch = null;
        }
    }

    /** Watches the data of the path, by which the drivers decide. */
    private final class RuleWatch implements WatchRegistry.Subscriber {
        @Override
        public void onRead(String rulePath, Content content) {
            Optional<RuleVersion> decidedBy = list.rule(path).map(rule -> RuleVersion.of(rule.stat()));
            if (decidedBy.isPresent() && !decidedBy.get().equals(RuleVersion.of(content.stat()))) {
                doubt();
            }
        }

        /** Then our nodes are gone too, and their own watches tell. */
        @Override
        public void onGone(String rulePath) {
            ruleWatch = null;
        }

        @Override
        public void onRefused(String rulePath, Answer<?> answer) {
            ruleWatch = null;
            LockException why = ZooKeeperErrors.of(path, "watch " + rulePath, answer);
            List.copyOf(places).forEach(place -> place.waiter.fail(why));
        }

        private void doubt() {
            List.copyOf(places).forEach(place -> place.waiter.onDoubt());
        }
    }
}
