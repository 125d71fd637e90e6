// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.clean.OwnNode;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.LockQueue;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.reads.WatchRegistry;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The place of one of our nodes in a {@link QueueView}, for the request that waits with the node. Confined to the
 * engine thread.
 *
 * <p><b>What is watched.</b> A request watches the nodes that its driver waits for. Other nodes in front may be deleted
 * unnoticed. So when the watched nodes are gone and the driver names others, the request is in doubt and requests a
 * list, which costs less than trying the nodes one by one. Our own node is watched at once if the request is next in
 * line, because only then can a deletion grant it; otherwise it is watched after a while.
 *
 * <p><b>Behind another waiter.</b> Where requests are served in order, a request directly behind a waiting one watches
 * the nodes that its neighbour waits for, and not the neighbour itself. When those nodes are gone, the neighbour is
 * granted. While the neighbour holds the lock, our request prepares: it watches its own node and the neighbour, and
 * requests a list if more nodes were in front than are accounted for. So the next deletion grants it, with no list in
 * between. Preparing affects only when requests are sent, never what is granted: the watched nodes block our request as
 * well, whatever the neighbour does.
 */
final class QueuePlace {

    /** A request that waits in the queue of a path. */
    interface Waiter {
        /**
         * Called when the driver grants the place, as of the last known queue, and again when our own node is found to
         * exist.
         */
        void onTurn();

        /** Called when our own node is gone, because somebody has deleted it. */
        void onVanished();

        /** Called when something has changed, and only a new list shows what that means. */
        void onDoubt();

        /** Runs a part of the request's work. An exception in it fails the request. */
        void guard(Runnable work);

        /** Ends the request, which cannot be granted, with an error. The request leaves the queue. */
        void fail(LockException why);
    }

    private final QueueView view;
    private final Session session;
    private final QueueView.ServingOrder order; // determines when the place is served
    private final LockSpec spec;
    private final OwnNode node;
    final LockNode self; // the node as parsed by the driver
    final Waiter waiter;
    private final OwnNodeWatch ownWatch;
    private boolean granted; // see isGranted()
    private boolean ownIsWatched;
    private boolean isBehindWaiter; // whether the watched nodes are those that the waiter in front waits for
    private @Nullable Timer untilOwnIsWatched;

    QueuePlace(
            QueueView view, QueueView.ServingOrder order, LockSpec spec, OwnNode node, LockNode self, Waiter waiter) {
        this.view = view;
        this.session = view.session;
        this.order = order;
        this.spec = spec;
        this.node = node;
        this.self = self;
        this.waiter = waiter;
        this.ownWatch = new OwnNodeWatch(this);
    }

    /**
     * Begins to watch the rule, if it is shared. Our own node is watched only after a while, so that a short wait costs
     * less.
     */
    void watch() {
        untilOwnIsWatched = session.afterAWhile(() -> waiter.guard(this::watchOwnNode));
        if (spec.hasSharedRule()) {
            view.watchRule();
        }
    }

    /**
     * Joins the serving order. If the place is first, decides at once; otherwise, decides when it becomes first.
     * {@code decided} is the driver's decision on {@code list}.
     */
    void enter(ChildrenSnapshot list, Decision decided) {
        // Even if the place was granted: under a changed rule, an earlier grant may no longer hold.
        granted = false;
        order.join(this);
        if (order.isFirst(this) && isGrantedOrWatches(view.isAsIn(list) ? decided : decision(), true)) {
            order.advance();
        }
    }

    /**
     * Leaves the queue, because the request no longer waits here. The watch of the node stays until the node is gone:
     * dropping it would cost a request, and the next place may wait for this very node. When the node is gone and the
     * session is alive, {@code whenNodeIsGone} runs.
     */
    void leave(Runnable whenNodeIsGone) {
        if (view.places.remove(this)) {
            endTimer();
            ownWatch.leave(whenNodeIsGone);
            if (order.leave(this)) {
                order.advance();
            }
            view.endIfEmpty();
        }
    }

    // ---- What the request wants to know.

    /**
     * Whether the driver has granted this place, as of the last known queue. A grant lasts until the next
     * {@link #enter}.
     */
    boolean isGranted() {
        return granted;
    }

    /** Whether our node is known to have existed after every known change. */
    boolean isStanding() {
        return session.watches().tellsDeletionOf(node.path()) && isInOrder();
    }

    /**
     * Whether {@link #isStanding} will be true without another request. Only a place that watches its own node is told
     * so: the node may also be watched for the place behind it.
     */
    boolean isAboutToStand() {
        return ownIsWatched && session.watches().asksForDeletionOf(node.path()) && isInOrder();
    }

    boolean isInOrder() {
        return view.isInOrder(spec);
    }

    /**
     * Whether a node may have appeared in front since the list was taken that would keep this place from being granted.
     * If the list of another request has shown that our own node is gone, anything may have.
     */
    boolean mayHaveNewNodeInFront() {
        Optional<LockNode> inFront = spec.nodeInFrontOf(self);
        if (inFront.isEmpty()) {
            return false;
        }
        LockQueue queue = view.queue(spec);
        return !queue.contains(self) || queue.wouldBeBlockedBy(inFront.get(), self);
    }

    /** Whether no other node is known to exist below the path. */
    boolean isAlone() {
        return view.hasOneNode();
    }

    // ---- Decide.

    /** Decides again, because something has changed. */
    void decide() {
        waiter.guard(() -> {
            if (isGrantedOrWatches(decision(), false)) {
                waiter.onTurn();
            }
        });
    }

    /**
     * Returns the decision of the driver. If our own node is no longer in the queue, the place waits for its own watch
     * to report that.
     */
    private Decision decision() {
        Decision decision = view.queue(spec).decideOnOwn(self);
        return decision == null ? Decision.waitFor(self) : decision;
    }

    /**
     * Follows a decision: leaves the serving order if the place is granted, and otherwise watches the nodes that it
     * waits for. {@code fresh} means that the list was taken just now, so that no node in it can have been deleted
     * unnoticed. Returns whether the place is granted.
     */
    private boolean isGrantedOrWatches(Decision decision, boolean fresh) {
        if (decision instanceof Decision.Never never) {
            throw new LockRefusedException("the lock " + view.path + " refuses this request: " + never.reason());
        } else if (decision instanceof Decision.WaitFor wait) {
            LockQueue queue = view.queue(spec);
            if (queue.contains(self)) { // otherwise our node is gone, which its own watch reports
                await(wait.nodes(), queue, fresh);
            }
        } else {
            granted = true;
            order.leave(this);
        }
        return decision instanceof Decision.Granted;
    }

    /**
     * Watches what keeps the place from being granted, or puts the request in doubt. {@code blocking} are the nodes for
     * which the driver waits.
     */
    private void await(List<LockNode> blocking, LockQueue queue, boolean fresh) {
        List<LockNode> blockingBoth = mayPrepare() ? queue.blockingNeighbourToo(self, blocking) : List.of();
        // True if the nodes for which both places waited are gone, so that the place in front is granted now.
        boolean prepares = !fresh && isBehindWaiter;
        isBehindWaiter = !blockingBoth.isEmpty();
        List<LockNode> next = isBehindWaiter ? blockingBoth : blocking;
        // True if no deletion can have gone unnoticed, or if that does not matter because the deletion of the next
        // nodes grants the request.
        boolean isKnown =
                fresh || order.hearsOf(next) || (prepares && !isBehindWaiter && queue.wouldGrantWithout(next, self));
        if (isKnown) {
            watch(next, !isBehindWaiter && !ownIsWatched && queue.wouldGrantWithout(next, self));
            return;
        }
        if (prepares) {
            isBehindWaiter = false; // preparing once is enough
            watch(blocking, true);
        }
        waiter.onDoubt();
    }

    /** Whether a deletion alone can grant the request. Where nodes may appear in front, a grant needs a list anyway. */
    private boolean mayPrepare() {
        return spec.isFifo() && spec.nodeInFrontOf(self).isEmpty();
    }

    // ---- Watch.

    private void watch(List<LockNode> next, boolean ownToo) {
        if (ownToo) {
            watchOwnNode(); // first, so that its deletion is known before that of any other node
        }
        order.watch(next);
    }

    private void watchOwnNode() {
        endTimer();
        if (!ownIsWatched && view.places.contains(this)) {
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

    /** The watch of a node of ours: it serves the request that waits with the node, and then the holder. */
    private static final class OwnNodeWatch implements WatchRegistry.Subscriber {
        private @Nullable QueuePlace place; // null once the request no longer waits
        private Runnable whenGone = () -> {};

        OwnNodeWatch(QueuePlace place) {
            this.place = place;
        }

        /** Drops the reference to the request, which may be much larger than what outlives it. */
        void leave(Runnable whenNodeIsGone) {
            place = null;
            whenGone = whenNodeIsGone;
        }

        @Override
        public void onSet(String nodePath) {
            if (place != null && place.granted) {
                place.waiter.onTurn();
            }
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
}
