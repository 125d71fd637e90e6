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
 * <p><b>What is watched.</b> A request watches the nodes that its driver waits for. Other nodes in front may go
 * without our knowing. So when the watched nodes are gone and the driver names others, the request is in doubt and
 * takes a list, which costs less than trying the nodes one by one. Our own node is watched at once if the request is
 * next in line, since only then can a deletion be a grant; otherwise it is watched after a while.
 *
 * <p><b>Behind another waiter.</b> Where requests are served in order, a request right behind a waiting one watches
 * what that one waits for, and not the waiting one itself. When those nodes are gone, the one in front is granted.
 * While it holds, our request prepares: it watches its own node and the one in front, and takes a list if more nodes
 * were in front than are accounted for. So the next deletion is a grant, with no list between the two. This decides
 * when something is sent, never what is granted: the nodes that are watched block our request, too, whatever the one
 * in front does.
 */
final class QueuePlace {

    /** A request that waits in the queue of a path. */
    interface Waiter {
        /** The driver grants the place, as of the last known queue; told again when our own node is found to stand. */
        void onTurn();

        /** Our own node is gone: somebody has deleted it. */
        void onVanished();

        /** Something has changed, and only a new list shows what that means. */
        void onDoubt();

        /** Runs a part of the request's work; an exception from it fails the request. */
        void guard(Runnable work);

        /** The request cannot be granted, and leaves. */
        void fail(LockException why);
    }

    private final QueueView view;
    private final Session session;
    private final QueueView.ServingOrder order; // in which the place is served
    private final LockSpec spec;
    private final OwnNode node;
    final LockNode self; // the node as the driver reads it
    final Waiter waiter;
    private final OwnNodeWatch ownWatch;
    private boolean granted; // see isGranted()
    private boolean ownIsWatched;
    private boolean isBehindWaiter; // whether it watches what the waiter in front waits for
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
     * Begins to watch the rule. Our own node is watched after a while only, so that a short wait does not cost that
     * much.
     */
    void watch() {
        untilOwnIsWatched = session.afterAWhile(() -> waiter.guard(this::watchOwnNode));
        if (spec.hasSharedRule()) {
            view.watchRule();
        }
    }

    /**
     * Joins the order: decides at once if it is this place's turn, and otherwise when it becomes its turn.
     * {@code decided} is the decision of the driver on {@code list}.
     */
    void enter(ChildrenSnapshot list, Decision decided) {
        // Even if it was granted: under a changed rule, an earlier grant may no longer hold.
        granted = false;
        order.join(this);
        if (order.isFirst(this) && isGrantedOrWatches(view.isAsIn(list) ? decided : decision(), true)) {
            order.advance();
        }
    }

    /**
     * The request does not wait here any more. The watch of its node stays until the node is gone: to drop it would
     * cost a request, and the next place may wait for this very node. When it is gone, {@code whenNodeIsGone} runs,
     * if the session lives.
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
     * Whether the driver has granted this place, as of the last known queue. A grant counts until the next
     * {@link #enter}.
     */
    boolean isGranted() {
        return granted;
    }

    /** Whether our node is known to have existed after every change that is known. */
    boolean isStanding() {
        return session.watches().tellsDeletionOf(node.path()) && isInOrder();
    }

    /** Whether that will be known without another request: our node is about to be watched. */
    boolean isAboutToStand() {
        return session.watches().asksForDeletionOf(node.path()) && isInOrder();
    }

    boolean isInOrder() {
        return view.isInOrder(spec);
    }

    /**
     * Whether a node may have appeared in front since the list was taken, and would keep this one from being granted.
     */
    boolean mayHaveNewNodeInFront() {
        Optional<LockNode> inFront = spec.nodeInFrontOf(self);
        return inFront.isPresent() && view.queue(spec).wouldBeBlockedBy(inFront.get(), self);
    }

    /** Whether no other node is known below the path. */
    boolean isAlone() {
        return view.hasOneNode();
    }

    // ---- Decide.

    /** Decides again, since something has changed. */
    void decide() {
        waiter.guard(() -> {
            if (isGrantedOrWatches(decision(), false)) {
                waiter.onTurn();
            }
        });
    }

    /**
     * Asks the driver. If our own node is not in the queue any more, the place waits for its own watch to tell that.
     */
    private Decision decision() {
        Decision decision = view.queue(spec).decideOnOwn(self);
        return decision == null ? Decision.waitFor(self) : decision;
    }

    /**
     * Follows a decision: leaves the order if the place is granted, and otherwise watches what it waits for.
     * {@code fresh} means that the list was taken just now, so that no node in it can have gone unnoticed. Returns
     * whether it is granted.
     */
    private boolean isGrantedOrWatches(Decision decision, boolean fresh) {
        if (decision instanceof Decision.Never never) {
            throw new LockRefusedException("the lock " + view.path + " refuses this request: " + never.reason());
        } else if (decision instanceof Decision.WaitFor wait) {
            LockQueue queue = view.queue(spec);
            if (queue.contains(self)) { // otherwise it is gone: its own watch tells, now or when it is set
                await(wait.nodes(), queue, fresh);
            }
        } else {
            granted = true;
            order.leave(this);
        }
        return decision instanceof Decision.Granted;
    }

    /**
     * Watches what keeps the place from being granted, or puts the request in doubt. The driver waits for the
     * {@code blocking} nodes.
     */
    private void await(List<LockNode> blocking, LockQueue queue, boolean fresh) {
        List<LockNode> blockingBoth = mayPrepare() ? queue.blockingNeighbourToo(self, blocking) : List.of();
        // True if the nodes that both places waited for are gone, so that the place in front has its turn now.
        boolean prepares = !fresh && isBehindWaiter;
        isBehindWaiter = !blockingBoth.isEmpty();
        List<LockNode> next = isBehindWaiter ? blockingBoth : blocking;
        // True if nothing can have gone unnoticed, or if that does not matter because the deletion of the next nodes
        // is a grant.
        boolean isKnown =
                fresh || order.hearsOf(next) || (prepares && !isBehindWaiter && queue.wouldGrantWithout(next, self));
        if (isKnown) {
            watch(next, !isBehindWaiter && !ownIsWatched && queue.wouldGrantWithout(next, self));
            return;
        }
        if (prepares) {
            isBehindWaiter = false; // to prepare once is enough
            watch(blocking, true);
        }
        waiter.onDoubt();
    }

    /** Whether a deletion alone can be a grant. Where nodes may appear in front, a grant takes a list anyway. */
    private boolean mayPrepare() {
        return spec.isFifo() && spec.nodeInFrontOf(self).isEmpty();
    }

    // ---- Watch.

    private void watch(List<LockNode> next, boolean ownToo) {
        if (ownToo) {
            watchOwnNode(); // first: so its end is known before that of any other
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

    /** Watches a node of ours: first for the request that waits with it, then for its holder. */
    private static final class OwnNodeWatch implements WatchRegistry.Subscriber {
        private @Nullable QueuePlace place; // null once the request does not wait any more
        private Runnable whenGone = () -> {};

        OwnNodeWatch(QueuePlace place) {
            this.place = place;
        }

        /** Forgets the request, which may be much larger than what outlives it. */
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
