// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The open holds on one path, the youngest first.
 *
 * <p>A hold that is closed counts no more from that moment on; taking its link out only frees memory. So a thread may
 * die between the two, and several threads may take links out at the same time: a link is only ever led past others
 * that are closed, and what one of them puts back by that, the next one that comes along takes out again. Thread-safe.
 *
 * <p>A lost hold is kept only weakly, so it counts no more once nobody has its lease: no one else could ever close it.
 */
final class HoldStack {

    /** A hold, and the one that was opened before it. */
    private static final class Link {
        private volatile @Nullable Hold hold;
        private volatile @Nullable Lost lost; // instead, once it is lost
        private @Nullable Link older; // read only after the youngest, which makes all below visible

        Link(Hold hold, @Nullable Link older) {
            this.hold = hold;
            this.older = older;
        }

        /** Null if it is closed or forgotten. */
        @Nullable
        Hold open() {
            Hold found = hold;
            Lost reference = lost;
            if (found == null && reference != null) {
                found = reference.get();
            }
            return found == null || found.isClosed() ? null : found;
        }

        boolean isOf(Hold other) {
            Lost reference = lost;
            return hold == other || (reference != null && reference.refersTo(other));
        }

        /** A hold that is lost is kept only by those who can still close it. */
        void lose(Lost reference) {
            lost = reference;
            hold = null;
        }

        /** Whether it was lost and nobody has its lease any more, and that was not dealt with. */
        boolean isForgotten() {
            Lost reference = lost;
            return reference != null && reference.refersTo(null) && !reference.taken.get();
        }
    }

    /** What is left of a lost hold when nobody has its lease any more. */
    static final class Lost extends WeakReference<Hold> {
        private final Hold.Origin lock;
        private final List<HeldNode> standing;
        private final AtomicBoolean told = new AtomicBoolean();
        private final AtomicBoolean taken = new AtomicBoolean();

        Lost(Hold hold) {
            super(hold);
            this.lock = hold.origin();
            this.standing =
                    hold.grants().stream().filter(grant -> !grant.hasEnded()).toList();
        }

        Hold.Origin lock() {
            return lock;
        }

        /** Those of several nodes that were not lost with the others. */
        List<HeldNode> standing() {
            return standing;
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
    void remove(@Nullable Hold closed) {
        Link kept = null;
        for (Link link = youngest; link != null; link = link.older) {
            if (link.open() != null || link.isForgotten()) {
                kept = link;
            } else if (kept != null) {
                kept.older = link.older;
            } else {
                // A failure means that another thread removes links, or that a younger hold was pushed.
                YOUNGEST.compareAndSet(this, link, link.older);
            }
            if (closed != null && link.isOf(closed)) {
                return;
            }
        }
    }

    /** From now on the hold, which is lost, is here only as long as somebody has it who could close it. */
    void lose(Hold hold, Lost reference) {
        for (Link link = youngest; link != null; link = link.older) {
            if (link.hold == hold) {
                link.lose(reference);
            }
        }
    }

    /** Whether there are some that were lost and that nobody has any more, and one of them was not asked about yet. */
    boolean isFirstAskedOfForgotten() {
        boolean first = false;
        for (Link link = youngest; link != null; link = link.older) {
            Lost lost = link.lost;
            if (lost != null && link.isForgotten()) {
                first |= lost.told.compareAndSet(false, true);
            }
        }
        return first;
    }

    /** Takes out the youngest that was lost and that nobody has any more: of these locks, or of any if it is null. */
    @Nullable
    Lost takeForgotten(@Nullable LockGroup group) {
        for (Link link = youngest; link != null; link = link.older) {
            Lost lost = link.lost;
            if (lost != null
                    && link.isForgotten()
                    && (group == null || lost.lock.group().equals(group))
                    && lost.taken.compareAndSet(false, true)) {
                remove(null);
                return lost;
            }
        }
        return null;
    }

    boolean isEmpty() {
        for (Link link = youngest; link != null; link = link.older) {
            if (link.open() != null || link.isForgotten()) {
                return false;
            }
        }
        return true;
    }

    /** The youngest of exactly these locks that is not lost; if all of them are, the youngest. */
    @Nullable
    Hold youngestOf(LockGroup group) {
        Hold lost = null;
        for (Link link = youngest; link != null; link = link.older) {
            Hold hold = link.open();
            if (hold != null && hold.group().equals(group)) {
                if (!hold.isLost()) {
                    return hold;
                }
                lost = lost == null ? hold : lost;
            }
        }
        return lost;
    }

    /** The youngest that stands on the node. */
    @Nullable
    Hold youngestOn(HeldNode node) {
        for (Link link = youngest; link != null; link = link.older) {
            Hold hold = link.open();
            if (hold != null && hold.standsOn(node)) {
                return hold;
            }
        }
        return null;
    }

    boolean hasAnotherOn(HeldNode node, Hold than) {
        for (Link link = youngest; link != null; link = link.older) {
            Hold hold = link.open();
            if (hold != null && hold != than && hold.standsOn(node)) {
                return true;
            }
        }
        return false;
    }

    /** The youngest that stands on a node of this lock. */
    @Nullable
    Hold youngestOn(LockSpec spec) {
        for (Link link = youngest; link != null; link = link.older) {
            Hold hold = link.open();
            if (hold != null && hold.grantOn(spec) != null) {
                return hold;
            }
        }
        return null;
    }

    /** All that are open now. */
    List<Hold> all() {
        List<Hold> open = new ArrayList<>();
        for (Link link = youngest; link != null; link = link.older) {
            Hold hold = link.open();
            if (hold != null) {
                open.add(hold);
            }
        }
        return open;
    }
}
