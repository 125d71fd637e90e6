// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The open holds on one path, the youngest first.
 *
 * <p>A hold that is closed counts no more from that moment on; taking its link out only frees memory. So a thread may
 * die between the two, and several threads may take links out at the same time: a link is only ever led past others
 * that are closed, and what one of them puts back by that, the next one that comes along takes out again. Thread-safe.
 */
final class HoldStack {

    /** A hold, and the one that was opened before it. */
    private static final class Link {
        private final Hold hold;
        private @Nullable Link older; // read only after the youngest, which makes all below visible

        Link(Hold hold, @Nullable Link older) {
            this.hold = hold;
            this.older = older;
        }
    }

    private static final AtomicReferenceFieldUpdater<HoldStack, @Nullable Link> YOUNGEST =
            AtomicReferenceFieldUpdater.newUpdater(HoldStack.class, Link.class, "youngest");

    private volatile @Nullable Link youngest;

    /** The compare-and-set comes last: whatever is thrown in here, the hold was not pushed. */
    void push(Hold hold) {
        Link before = youngest;
        Link pushed = new Link(hold, before);
        while (!YOUNGEST.compareAndSet(this, before, pushed)) {
            before = youngest;
            pushed.older = before;
        }
    }

    /** Takes out the hold, which is closed, and every closed one above it. */
    void remove(Hold closed) {
        Link kept = null;
        for (Link link = youngest; link != null; link = link.older) {
            if (!link.hold.isClosed()) {
                kept = link;
            } else if (kept != null) {
                kept.older = link.older;
            } else {
                // A failure means that another thread removes links, or that a younger hold was pushed.
                YOUNGEST.compareAndSet(this, link, link.older);
            }
            if (link.hold == closed) {
                return;
            }
        }
    }

    boolean isEmpty() {
        return firstOpen(youngest) == null;
    }

    private static @Nullable Link firstOpen(@Nullable Link from) {
        Link link = from;
        while (link != null && link.hold.isClosed()) {
            link = link.older;
        }
        return link;
    }

    /** The youngest of exactly these locks that is not lost; if all of them are, the youngest. */
    @Nullable
    Hold youngestOf(LockGroup group) {
        Hold lost = null;
        for (Link link = firstOpen(youngest); link != null; link = firstOpen(link.older)) {
            if (link.hold.group().equals(group)) {
                if (!link.hold.isLost()) {
                    return link.hold;
                }
                lost = lost == null ? link.hold : lost;
            }
        }
        return lost;
    }

    /** The youngest that stands on the node. */
    @Nullable
    Hold youngestOn(HeldNode node) {
        for (Link link = firstOpen(youngest); link != null; link = firstOpen(link.older)) {
            if (link.hold.standsOn(node)) {
                return link.hold;
            }
        }
        return null;
    }

    boolean hasAnotherOn(HeldNode node, Hold than) {
        for (Link link = firstOpen(youngest); link != null; link = firstOpen(link.older)) {
            if (link.hold != than && link.hold.standsOn(node)) {
                return true;
            }
        }
        return false;
    }

    /** The youngest that stands on a node of this lock. */
    @Nullable
    Hold youngestOn(LockSpec spec) {
        for (Link link = firstOpen(youngest); link != null; link = firstOpen(link.older)) {
            if (link.hold.grantOn(spec) != null) {
                return link.hold;
            }
        }
        return null;
    }

    /** All that are open now. */
    List<Hold> all() {
        List<Hold> open = new ArrayList<>();
        for (Link link = firstOpen(youngest); link != null; link = firstOpen(link.older)) {
            open.add(link.hold);
        }
        return open;
    }
}
