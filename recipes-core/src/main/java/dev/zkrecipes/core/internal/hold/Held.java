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
 * What holds stand on: a node of the engine, or the hold of a foreign lock. It ends exactly once, as RELEASED or as
 * LOST. The first thread that sets {@link #end} decides which, and all later attempts change nothing.
 *
 * <p>The listener acts on a loss, and the observer only reports. Either may be set while another thread ends this. So
 * the thread that sets one looks at the end afterwards, and the thread that ends this looks at them afterwards: one
 * of the two sees the other. Thread-safe.
 */
public abstract class Held {
    private static final AtomicReferenceFieldUpdater<Held, @Nullable End> END =
            AtomicReferenceFieldUpdater.newUpdater(Held.class, End.class, "end");
    private static final AtomicReferenceFieldUpdater<Held, @Nullable Observer> OBSERVER =
            AtomicReferenceFieldUpdater.newUpdater(Held.class, Observer.class, "observer");

    private static final End RELEASED = new End(LeaseState.RELEASED, "it was given back");

    /** Acts on a loss: what stands on the held thing is lost, too. */
    @FunctionalInterface
    public interface Listener {
        /** It was lost. Called on any thread; a second call has no further effect. */
        void onLost(Held held);
    }

    /** Reports what becomes of it, and changes nothing. */
    public interface Observer {
        /** It was released. Called on the thread that released it. */
        void onReleased();

        /** It was lost. Called on any thread, perhaps on the engine thread, so it must not block. */
        void onLost(String reason);

        /** Somebody asks for the lock back, and the application listens for that. */
        void onRevocationRequested();
    }

    /** How it ended. The reason appears in messages if it was lost. */
    protected record End(LeaseState state, String reason) {
        public boolean isLoss() {
            return state == LeaseState.LOST;
        }
    }

    private final LockSpec spec;
    private final @Nullable HoldLimit limit; // null if it may be held for any time
    private volatile @Nullable End end; // null while it stands, and set once
    private volatile @Nullable Listener listener; // null again once it was told
    private volatile @Nullable Observer observer; // null again once it was told

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

    /** The state as long as no end was noted here. */
    protected abstract LeaseState standing();

    /** Ends it as lost for this reason, unless it has ended. */
    public abstract void lose(String reason);

    /** Whether the state is LOST. That may cost less than {@link #state()}, which also tells HELD from SUSPENDED. */
    public abstract boolean isLost();

    /** Whether nothing is left to release. */
    public abstract boolean hasEnded();

    /** A new exception for a caller that relies on it although it is lost. */
    public abstract LockLostException lost();

    /** The fencing tokens by lock path. Throws if it is lost. */
    public abstract Map<String, Long> tokens();

    /** Operations that fail a {@code multi} once the lock is no longer held. */
    public abstract List<Op> guards();

    /**
     * Releases it, unless that was done before. The future completes once it is known to be gone. A caller that
     * {@code waits} for the future anyway lets a foreign lock block in this call already.
     */
    public abstract CompletableFuture<Void> release(boolean waits);

    // ---- Its end.

    /** The state at this moment. An end that only the clock tells is noted first. */
    public final LeaseState state() {
        End last = endByNow();
        return last == null ? standing() : last.state();
    }

    protected final @Nullable End end() {
        return end;
    }

    /**
     * How it has ended; null if it stands. No thread may have noticed yet that its time is over, so this reads the
     * clock, and notes the end.
     */
    protected @Nullable End endByNow() {
        if (end == null && limit != null && limit.isOver()) {
            lose(limit.reason());
        }
        return end;
    }

    /** Whether it is already known to be lost. This does not read the clock, so it is cheap and ends nothing. */
    public boolean isKnownAsLost() {
        End last = end;
        return last != null && last.isLoss();
    }

    public final void requireNotLost() {
        if (isLost()) {
            throw lost();
        }
    }

    /** The error for the loss of this lock, as messages call it. Nobody may have noted the loss of a foreign hold. */
    protected final LockLostException lost(String lock) {
        End last = end;
        String reason = last == null ? "nobody knows why" : last.reason();
        return new LockLostException(
                "lost the lock " + lock + ": " + reason
                        + "; stop what it protects, close every lease of it, then acquire afresh",
                reason);
    }

    /** Ends it as released. Returns false if it had ended before. */
    public final boolean endAsReleased() {
        return END.compareAndSet(this, null, RELEASED);
    }

    /** Ends it as lost. Returns false if it had ended before. */
    protected final boolean endAsLost(String reason) {
        return END.compareAndSet(this, null, new End(LeaseState.LOST, reason));
    }

    /** Starts the timer of its limit, if it has one: before the caller gets the lease, and after each change. */
    public final void limitTime() {
        if (limit != null) {
            limit.begin(this::endByNow);
            if (end != null) {
                limit.end(); // the thread that ended it may have looked before there was a timer
            }
        }
    }

    /** Gives it this much time from now on, if it has a limit that is not over. */
    public void prolong(Duration most) {
        if (limit != null) {
            limit.change(most, this::limitTime);
        }
    }

    // ---- Listener and observer.

    /** Sets the only listener, which is told of a loss; at once if it is lost already. */
    public void attach(Listener only) {
        listener = only;
        tellListener(); // the thread that ended it may have looked before there was a listener
    }

    /** Follows the end: stops the timer of the limit, and tells the listener of a loss. */
    protected final void settleEnd() {
        if (limit != null) {
            limit.end();
        }
        tellListener();
    }

    /** Two threads may come here at once, and both tell the listener: it expects that. */
    private void tellListener() {
        Listener only = listener;
        End last = end;
        if (only != null && last != null && last.isLoss()) {
            listener = null;
            only.onLost(this);
        }
    }

    /** Sets the only observer, which is told of the end exactly once. */
    public final void observe(Observer only) {
        observer = only;
        if (end != null) { // the thread that ended it may have looked before there was an observer
            tellObserver();
        }
    }

    public final @Nullable Observer observer() {
        return observer;
    }

    /** Tells the observer of the end, unless another thread has taken it to do so. */
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
