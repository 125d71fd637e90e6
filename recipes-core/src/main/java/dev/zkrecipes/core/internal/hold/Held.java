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

/** What holds stand on: a node, or what a foreign lock has. It ends once, as RELEASED or as LOST. Thread-safe. */
public abstract class Held {
    private static final AtomicReferenceFieldUpdater<Held, @Nullable End> END =
            AtomicReferenceFieldUpdater.newUpdater(Held.class, End.class, "end");
    private static final AtomicReferenceFieldUpdater<Held, @Nullable Observer> OBSERVER =
            AtomicReferenceFieldUpdater.newUpdater(Held.class, Observer.class, "observer");

    private static final End RELEASED = new End(LeaseState.RELEASED, "it was given back");

    @FunctionalInterface
    public interface Listener {
        void onLost(Held held);
    }

    /** Hears what becomes of it, and changes nothing. */
    public interface Observer {
        /** It was given back; told on the thread that does so. */
        void onReleased();

        /** It was lost; told on any thread, and must not block. */
        void onLost(String reason);

        /** Somebody asks for the lock back, and the application was told. */
        void onRevocationRequested();
    }

    /** How it ended, and, if it was lost, why. */
    protected record End(LeaseState state, String reason) {
        public boolean isLoss() {
            return state == LeaseState.LOST;
        }
    }

    private final LockSpec spec;
    private final @Nullable HoldLimit limit;
    private volatile @Nullable End end;
    private volatile @Nullable Listener listener;
    private volatile @Nullable Observer observer;

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

    // ---- What differs.

    protected abstract LeaseState standing();

    /** Ends it as lost, unless it has ended. */
    public abstract void lose(String reason);

    /** Whether the state is LOST, which may take less to find out than the state. */
    public abstract boolean isLost();

    /** Whether nothing is left to give back. */
    public abstract boolean hasEnded();

    public abstract LockLostException lost();

    public abstract Map<String, Long> tokens();

    public abstract List<Op> guards();

    /** Gives it back, once; completes when it is gone. If the caller {@code waits} for that, it may block here. */
    public abstract CompletableFuture<Void> release(boolean waits);

    // ---- Its end.

    public final LeaseState state() {
        End last = endByNow();
        return last == null ? standing() : last.state();
    }

    protected final @Nullable End end() {
        return end;
    }

    /** How it ended, even if only the time says so. */
    protected @Nullable End endByNow() {
        if (end == null && limit != null && limit.isOver()) {
            lose(limit.reason());
        }
        return end;
    }

    /** Whether it is lost as far as is known, without a look at the clock. */
    public boolean isKnownAsLost() {
        End last = end;
        return last != null && last.isLoss();
    }

    public final void requireNotLost() {
        if (isLost()) {
            throw lost();
        }
    }

    /** Returns whether it had not ended. */
    public final boolean endAsReleased() {
        return END.compareAndSet(this, null, RELEASED);
    }

    /** Returns whether it had not ended. */
    protected final boolean endAsLost(String reason) {
        return END.compareAndSet(this, null, new End(LeaseState.LOST, reason));
    }

    /** Begins the time that it may be held, if it has one. Called before anybody is told of the grant. */
    public final void limitTime() {
        if (limit != null) {
            limit.begin(this::endByNow);
            if (end != null) {
                limit.end(); // nobody does it later
            }
        }
    }

    /** Sets the time that it may be held from now on, if it is limited and stands. */
    public void prolong(Duration most) {
        if (limit != null) {
            limit.change(most, this::limitTime);
        }
    }

    // ---- Who is told of it.

    /** Sets the only listener, which is told when it is lost, at once if it is. */
    public void attach(Listener only) {
        listener = only;
        tellListener(); // the thread that ended it may have looked before
    }

    /** Does what the end brings: its time counts no more, and the listener is told of a loss. */
    protected final void settleEnd() {
        if (limit != null) {
            limit.end();
        }
        tellListener();
    }

    private void tellListener() {
        Listener only = listener;
        End last = end;
        if (only != null && last != null && last.isLoss()) {
            listener = null;
            only.onLost(this);
        }
    }

    /** Sets the only observer, which is told of the end once. */
    public final void observe(Observer only) {
        observer = only;
        if (end != null) { // the thread that ended it has looked before
            tellObserver();
        }
    }

    public final @Nullable Observer observer() {
        return observer;
    }

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
