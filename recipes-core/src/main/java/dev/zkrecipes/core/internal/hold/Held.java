// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.internal.queue.LockSpec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * One part of what backs a hold: a node of the engine, or the hold of a foreign lock. A part ends exactly once, as
 * RELEASED or as LOST. The first thread to set {@link #end} decides which; later attempts have no effect.
 *
 * <p>The listener acts on a loss; the observer only reports. Either may be set while another thread ends the part. So
 * the thread that sets one of them reads the end afterwards, and the thread that sets the end reads both of them
 * afterwards. At least one of the two threads sees what the other has set. Thread-safe.
 */
public abstract class Held {
    private static final AtomicReferenceFieldUpdater<Held, @Nullable End> END =
            AtomicReferenceFieldUpdater.newUpdater(Held.class, End.class, "end");
    private static final AtomicReferenceFieldUpdater<Held, @Nullable Observer> OBSERVER =
            AtomicReferenceFieldUpdater.newUpdater(Held.class, Observer.class, "observer");

    private static final End RELEASED = new End(LeaseState.RELEASED, "it was given back");

    /** Acts on the loss of a part: the holds that it backs are lost, too. */
    @FunctionalInterface
    public interface Listener {
        /** Called when the part was lost, on any thread. A second call has no further effect. */
        void onLost(Held held);
    }

    /** Reports what happens to a part, and changes nothing. */
    public interface Observer {
        /** Called when the part was released, on the thread that released it. */
        void onReleased();

        /** Called when the part was lost, on any thread. That may be the engine thread, so this must not block. */
        void onLost(String reason);

        /** Called when somebody requests the lock back, if the application listens for such requests. */
        void onRevocationRequested();
    }

    /** How a part ended. The reason of a loss appears in messages. */
    protected record End(LeaseState state, String reason) {
        public boolean isLoss() {
            return state == LeaseState.LOST;
        }
    }

    private final LockSpec spec;
    private final @Nullable HoldLimit limit; // null if there is no time limit
    private volatile @Nullable End end; // null until the part ends; set once
    private volatile @Nullable Listener listener; // null again once it was notified
    private volatile @Nullable Observer observer; // null again once it was notified

    protected Held(LockSpec spec, @Nullable HoldLimit limit) {
        this.spec = spec;
        this.limit = limit;
    }

    public final LockSpec spec() {
        return spec;
    }

    public final @Nullable HoldLimit limit() {
        return limit;
    }

    // ---- What a node and a foreign hold do differently.

    /** Returns the state while no end is recorded here. */
    protected abstract LeaseState standing();

    /** Ends the part as lost for this reason, unless it has already ended. */
    public abstract void lose(String reason);

    /**
     * Whether the state is LOST. This may be cheaper than {@link #state()}, which also distinguishes HELD from
     * SUSPENDED.
     */
    public abstract boolean isLost();

    /** Whether nothing is left to release. */
    public abstract boolean hasEnded();

    /** Returns a new exception for a caller that relies on the part although it is lost. */
    public abstract LockLostException lost();

    /** Returns the fencing tokens by lock path. Throws if the part is lost. */
    public abstract Map<String, Long> tokens();

    /** Returns operations that make a {@code multi} fail once the lock is no longer held. */
    public abstract List<Op> guards();

    /**
     * Releases the part, unless it was released before. The future completes once the part is known to be gone. If
     * {@code waits} is true, the caller waits for the future anyway, so a foreign lock may already block in this call.
     */
    public abstract CompletableFuture<Void> release(boolean waits);

    // ---- The end.

    /** Returns the state at this moment. If only the clock shows that the part has ended, records the end first. */
    public final LeaseState state() {
        End last = endByNow();
        return last == null ? standing() : last.state();
    }

    protected final @Nullable End end() {
        return end;
    }

    /**
     * Returns how the part has ended; null if it has not. Perhaps no thread has noticed yet that its time has elapsed,
     * so this reads the clock, and records the end.
     */
    protected @Nullable End endByNow() {
        if (end == null && limit != null && limit.isOver()) {
            lose(limit.reason());
        }
        return end;
    }

    /**
     * Whether the part is already known to be lost. This does not read the clock, so it is cheap and never ends the
     * part.
     */
    public boolean isKnownAsLost() {
        End last = end;
        return last != null && last.isLoss();
    }

    public final void requireNotLost() {
        if (isLost()) {
            throw lost();
        }
    }

    /**
     * Returns the error for a loss; {@code lock} names the lock in the message. The reason may be unknown, because the
     * loss of a foreign hold may not have been recorded.
     */
    protected final LockLostException lost(String lock) {
        End last = end;
        String reason = last == null ? "nobody knows why" : last.reason();
        return new LockLostException(
                "lost the lock " + lock + ": " + reason
                        + "; stop what it protects, close every lease of it, then acquire afresh",
                reason);
    }

    /** Ends the part as released. Returns false if it had already ended. */
    public final boolean endAsReleased() {
        return END.compareAndSet(this, null, RELEASED);
    }

    /** Ends the part as lost. Returns false if it had already ended. */
    protected final boolean endAsLost(String reason) {
        return END.compareAndSet(this, null, new End(LeaseState.LOST, reason));
    }

    /**
     * Starts the timer of the limit, if there is one. Called before the caller gets the lease, and after each change.
     */
    public final void limitTime() {
        if (limit != null) {
            limit.begin(this::onTime);
            if (!isTimed()) {
                limit.end(); // the thread that ended the part may have looked before the timer was set
            }
        }
    }

    /** Whether the timer of the limit still has something to do. */
    protected boolean isTimed() {
        return end == null;
    }

    /** Called by the timer of the limit, on the engine thread. */
    protected void onTime() {
        endByNow();
    }

    /** Sets the time that remains from now on, if there is a limit and it has not elapsed. */
    public void prolong(Duration most) {
        if (limit != null) {
            limit.change(most, this::limitTime);
        }
    }

    // ---- Listener and observer.

    /** Sets the single listener, which is notified of a loss; at once if the part is already lost. */
    public void attach(Listener only) {
        listener = only;
        tellListener(); // the thread that ended the part may have looked before the listener was set
    }

    /**
     * Does what follows from the end: stops the timer of the limit, unless it is still needed, and notifies the
     * listener of a loss.
     */
    protected final void settleEnd() {
        if (limit != null && !isTimed()) {
            limit.end();
        }
        tellListener();
    }

    /** Notifies the listener of a loss. Two threads may do so at the same time, which the listener expects. */
    private void tellListener() {
        Listener only = listener;
        End last = end;
        if (only != null && last != null && last.isLoss()) {
            listener = null;
            only.onLost(this);
        }
    }

    /** Sets the single observer, which is notified of the end exactly once. */
    public final void observe(Observer only) {
        observer = only;
        if (end != null) { // the thread that ended the part may have looked before the observer was set
            tellObserver();
        }
    }

    public final @Nullable Observer observer() {
        return observer;
    }

    /** Notifies the observer of the end, unless another thread has already taken the observer to do so. */
    protected final void tellObserver() {
        Observer only = observer == null ? null : OBSERVER.getAndSet(this, null);
        End last = end;
        if (only == null || last == null) {
            return;
        }
        if (last.isLoss()) {
            only.onLost(last.reason());
        } else {
            only.onReleased();
        }
    }
}
