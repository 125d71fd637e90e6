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
 * A node of ours in a {@link QueueView}, and the request that waits behind it. Confined to the engine thread.
 *
 * <p><b>What is watched.</b> Unwatched nodes in front may have gone without our knowing. So when what a request waited
 * for is gone and more is in front of it than was watched, it is in doubt: one list costs less than trying the nodes
 * one by one. Our own node is watched at once if the request is next in line, since only then can a deletion be a
 * grant; otherwise after a while.
 *
 * <p><b>Behind another waiter.</b> Where requests are served in order, a request behind another waiting one watches
 * what that one waits for. When such a node is gone, the one in front is granted. While it holds, ours prepares: it
 * watches its own node and the one in front, and takes a list if more was in front than is accounted for. So the next
 * deletion is a grant, with no list between the two. This decides when requests are sent, never what is granted: what
 * is watched blocks ours too, whatever the one in front does.
 */
final class QueuePlace {

    interface Waiter {
        /** The driver grants, by what the view knows. */
        void onTurn();

        /** Our own node is gone: somebody deleted it. */
        void onVanished();

        /** Something has changed, and only a new list tells what that means. */
        void onDoubt();

        /** Runs a part of the request's work; an exception from it fails the request. */
        void guard(Runnable work);

        void fail(LockException why);
    }

    private final QueueView view;
    private final Session session;
    private final QueueView.ServingOrder order;
    private final LockSpec spec;
    private final OwnNode node;
    final LockNode self;
    final Waiter waiter;
    private final OwnNodeWatch ownWatch;
    private boolean granted;
    private boolean ownIsWatched;
    private boolean isBehindWaiter; // and watches what that one waits for
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
        this.ownWatch = new OwnNodeWatch(waiter);
    }

    void watch() {
        untilOwnIsWatched = session.afterAWhile(() -> waiter.guard(this::watchOwnNode));
        if (spec.hasSharedRule()) {
            view.watchRule();
        }
    }

    /** Decides, if it is its turn, and from now on when that may change. The driver has {@code decided} on the list. */
    void enter(ChildrenSnapshot list, Decision decided) {
        granted = false; // also if it was: under a changed rule, an earlier grant may no longer hold
        order.join(this);
        if (order.isFirst(this) && isGrantedOrWatches(view.isAsIn(list) ? decided : decision(), true)) {
            order.advance();
        }
    }

    /** The request waits no more. The watch of its node stays: the next may wait for it, and a drop is a request. */
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

    /** Whether the driver grants by what is known. Once it does, it does until the next {@link #enter}. */
    boolean isGranted() {
        return granted;
    }

    boolean isStanding() {
        return session.watches().tellsDeletionOf(node.path()) && isInOrder();
    }

    boolean isInOrder() {
        return view.isInOrder(spec);
    }

    /** Whether a node that came after the list may stand in front and keep this one from being granted. */
    boolean mayHaveNewNodeInFront() {
        Optional<LockNode> inFront = spec.nodeInFrontOf(self);
        return inFront.isPresent() && view.queue(spec).wouldBeBlockedBy(inFront.get(), self);
    }

    boolean isAlone() {
        return view.hasOneNode();
    }

    // ---- Decide.

    void decide() {
        waiter.guard(() -> {
            if (isGrantedOrWatches(decision(), false)) {
                waiter.onTurn();
            }
        });
    }

    private Decision decision() {
        Decision decision = view.queue(spec).decideOnOwn(self);
        return decision == null ? Decision.waitFor(self) : decision;
    }

    /** Leaves the order if it is granted; else watches what it waits for. A {@code fresh} list was taken just now. */
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

    /** Watches what keeps the request from being granted, or asks for a list. The driver waits for {@code blocking}. */
    private void await(List<LockNode> blocking, LockQueue queue, boolean fresh) {
        List<LockNode> blockingBoth = mayPrepare() ? queue.blockingNeighbourToo(self, blocking) : List.of();
        boolean prepares = !fresh && isBehindWaiter; // what it watched, for which the one in front waited, is gone
        isBehindWaiter = !blockingBoth.isEmpty();
        List<LockNode> next = isBehindWaiter ? blockingBoth : blocking;
        boolean isKnown =
                fresh || order.hearsOf(next) || (prepares && !isBehindWaiter && queue.wouldGrantWithout(next, self));
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

    /** Whether a deletion alone can grant. Where nodes may appear in front it takes a list anyway. */
    private boolean mayPrepare() {
        return spec.isFifo() && spec.nodeInFrontOf(self).isEmpty();
    }

    // ---- Watch.

    private void watch(List<LockNode> next, boolean ownToo) {
        if (ownToo) {
            watchOwnNode(); // first: then its end is known first
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
        private @Nullable Waiter waiter;
        private Runnable whenGone = () -> {};

        OwnNodeWatch(Waiter waiter) {
            this.waiter = waiter;
        }

        /** Forgets the request, which may be much larger than what outlives it. */
        void leave(Runnable whenNodeIsGone) {
            waiter = null;
            whenGone = whenNodeIsGone;
        }

        @Override
        public void onGone(String nodePath) {
            if (waiter != null) {
                waiter.onVanished();
            } else {
                whenGone.run();
            }
        }

        @Override
        public void onRefused(String nodePath, Answer<?> answer) {
            if (waiter != null) {
                waiter.fail(ZooKeeperErrors.of(LockPath.parent(nodePath), "watch " + nodePath, answer));
            }
        }
    }
}
