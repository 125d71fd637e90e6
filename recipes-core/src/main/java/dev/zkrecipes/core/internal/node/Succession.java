// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import dev.zkrecipes.core.internal.thread.Completion;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The holders of one node inside the process, one after the other. Each has a {@link HeldNode} of its own: what one
 * holder gave back stays given back, whatever later holders do. A loss of the node, or a request to give it back,
 * concerns its present holder.
 *
 * <pre>
 *   held by the first ---- released ----&gt; passed to the next, with the next token ---- released ---&gt; ...
 *        |                                    |
 *        |  nobody waits, the bound is reached, the lease is not proven,
 *        |  somebody asks for the lock back, or the node is lost
 *        v                                    v
 *      over: the node is deleted, as that of any holder
 * </pre>
 *
 * <p>A holder ends once, by one compare-and-set: as released, after which the node may pass on, or as lost. A loss that
 * comes while nobody has the node is noted before the present holder is looked at, and a new holder is made the present
 * one before it is asked whether there was a loss: so one of the two sees the other, and nobody holds a lost node
 * unknowingly.
 *
 * <p>Any thread. Only one thread at a time passes the node on: the one that ended the present holder.
 */
public final class Succession {

    /** The requests that wait for the node inside the process. */
    public interface Heirs {
        /**
         * The present holder has released the node, which may pass on. Any thread.
         *
         * @return whether the node will be {@linkplain #passTo passed on} or {@linkplain #giveBack given back}, now or
         *     later; if not, nothing has changed
         */
        boolean inherit(Succession line);

        /** It is over, and its node may still be there. Any thread; may be told more than once. */
        void onEnding();

        /** It is over, and its node is being deleted. On the engine thread. */
        void onOver(Succession line);
    }

    private final HeldNode first;
    private final int most;
    private final Heirs heirs;
    private final long firstToken;
    private final AtomicBoolean givenBack = new AtomicBoolean();
    private volatile HeldNode present;
    private volatile int passed;
    private volatile boolean asked;
    private volatile boolean over;
    private volatile @Nullable String lost;

    /**
     * Lets a node that was granted just now pass on; nothing else has seen the node yet. On the engine thread.
     *
     * @param most how often
     */
    public Succession(HeldNode first, int most, Heirs heirs) {
        this.first = first;
        this.most = most;
        this.heirs = heirs;
        this.firstToken = first.tokenWhenGranted();
        this.present = first;
        first.passesOnIn(this);
    }

    /** The one that the session knows. */
    public HeldNode first() {
        return first;
    }

    public HeldNode present() {
        return present;
    }

    /** Completes when the node is known to be gone, once it is over. On the engine thread. */
    public CompletableFuture<Void> gone() {
        return present.gone();
    }

    /** How often the node can still pass on, as far as is known. */
    public int left() {
        return over || asked ? 0 : most - passed;
    }

    public boolean isOver() {
        return over;
    }

    /** Whether the node may pass on now. */
    public boolean mayPass() {
        return left() > 0 && first.session().isProven();
    }

    /** The node carries requests to give it back, or carries none. */
    public void noteRequests(boolean isAsked) {
        asked = isAsked;
    }

    /** The present holder has ended. */
    public void onReleased() {
        HeldNode released = present;
        boolean seenTo = false;
        try {
            seenTo = mayPass() && heirs.inherit(this);
        } finally {
            if (!seenTo && present == released) { // or an error came when another holder had the node already
                giveBack();
            }
        }
    }

    /**
     * Makes the next holder and offers it.
     *
     * @param taker says whether a request has taken it; otherwise it is released
     */
    public void passTo(Predicate<Optional<List<HeldNode>>> taker) {
        HeldNode ended = present;
        int ordinal = passed + 1;
        HeldNode next = new HeldNode(first, this, firstToken + ordinal);
        Optional<List<HeldNode>> share = Optional.of(List.of(next));
        passed = ordinal;
        present = next;
        try {
            next.limitTime(); // not before: it may be over at once, which ends the present one
            String reason = lost;
            if (reason != null) {
                endAsLost(next, reason);
            }
            if (reason != null || !taker.test(share)) {
                passed = ordinal - 1; // nobody has seen that token
                ended.replaced();
                Completion.forward(next.gone(), ended.gone());
                HeldNodes.release(List.of(next));
                return;
            }
        } catch (Throwable t) {
            endAsLost(next, "an error came while it was passed on"); // nobody knows whether it was taken
            Completion.forward(next.gone(), ended.gone());
            throw t;
        }
        ended.passedOn();
    }

    /** The node is gone, or the session that it belongs to. */
    public void lose(String reason) {
        lost = reason;
        end();
        endAsLost(present, reason);
    }

    /** A holder that has released the node, or passed it on, has lost nothing. */
    public void expire(HeldNode holder, String reason) {
        endAsLost(holder, reason);
    }

    private void end() {
        over = true;
        heirs.onEnding();
    }

    private void endAsLost(HeldNode holder, String reason) {
        if (holder.endAsLost(reason)) {
            giveBack();
        }
    }

    public void giveBack() {
        end();
        if (givenBack.compareAndSet(false, true)) {
            first.scheduler().execute(() -> {
                HeldNode last = present;
                last.endAsLost("its node was given back"); // if it was made just now, and was offered to nobody yet
                last.afterEnd();
                heirs.onOver(this);
            });
        }
    }
}
