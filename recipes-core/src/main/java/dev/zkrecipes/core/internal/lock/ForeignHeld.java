// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.node.Held;
import dev.zkrecipes.core.internal.node.HoldLimit;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.spi.ForeignLock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * What a foreign lock has acquired. It is lost when the foreign lock says so, and given back when it is closed even
 * then; or when its time is over, with which it is given back. Thread-safe.
 */
final class ForeignHeld implements Held {

    /** How it ended, and, if it was lost, why. */
    private record End(LeaseState state, String reason) {}

    private final LockSpec spec;
    private final ForeignLock.Hold hold;
    private final Callbacks callbacks;
    private final @Nullable HoldLimit limit; // null if it may be held for any time
    private final AtomicReference<@Nullable End> end = new AtomicReference<>();
    private volatile @Nullable Listener listener;
    private final AtomicReference<@Nullable Observer> observer = new AtomicReference<>();
    private final AtomicBoolean observesRequests = new AtomicBoolean();
    private final AtomicBoolean givenBack = new AtomicBoolean();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

    ForeignHeld(LockSpec spec, ForeignLock.Hold hold, Callbacks callbacks, @Nullable HoldLimit limit) {
        this.spec = spec;
        this.hold = hold;
        this.callbacks = callbacks;
        this.limit = limit;
    }

    @Override
    public LockSpec spec() {
        return spec;
    }

    @Override
    public LeaseState state() {
        End last = endByNow();
        return last != null ? last.state() : hold.state();
    }

    private @Nullable End endByNow() {
        if (end.get() == null && limit != null && limit.isOver() && end(LeaseState.LOST, limit.reason())) {
            callbacks.tellLoss(() -> giveBack(hold::expire));
        }
        return end.get();
    }

    @Override
    public boolean isLost() {
        return state() == LeaseState.LOST;
    }

    @Override
    public boolean isKnownAsLost() {
        End last = end.get();
        return last == null ? isLostThere() : last.state() == LeaseState.LOST;
    }

    @Override
    public boolean hasEnded() {
        return givenBack.get();
    }

    /** Whether the other library says that it is lost. A hold that cannot tell is not lost, and can be given back. */
    private boolean isLostThere() {
        try {
            return hold.state() == LeaseState.LOST;
        } catch (RuntimeException e) {
            return false;
        }
    }

    @Override
    public LockLostException lost() {
        if (isLostThere()) {
            try {
                var unused = hold.fencingTokens();
            } catch (LockLostException e) {
                return e; // it says why
            } catch (RuntimeException e) {
                // it has none
            }
        }
        End last = end.get();
        return new LockLostException("lost the lock " + spec.path() + (last == null ? "" : ": " + last.reason())
                + "; stop what it protects, close every lease of it, then acquire afresh");
    }

    @Override
    public Map<String, Long> tokens() {
        return told(hold::fencingTokens);
    }

    @Override
    public List<Op> guards() {
        return told(hold::guards);
    }

    void verify() throws InterruptedException {
        try {
            hold.verify();
        } catch (UnsupportedOperationException e) {
            throw refused(e);
        }
    }

    private <T> T told(Supplier<T> question) {
        try {
            return question.get();
        } catch (UnsupportedOperationException e) {
            throw refused(e);
        }
    }

    private UnsupportedOperationException refused(UnsupportedOperationException why) {
        return new UnsupportedOperationException("the lock " + spec.path() + ": " + why.getMessage(), why);
    }

    /** Also begins to listen, and its time. */
    @Override
    public void attach(Listener only) {
        listener = only;
        hold.onLost(this::onLost);
        if (hold.state() == LeaseState.LOST) {
            onLost();
        }
        if (limit != null) {
            limit.begin(this::endByNow);
            if (end.get() != null) {
                limit.end(); // nobody does it later
            }
        }
    }

    private void onLost() {
        var unused = end(LeaseState.LOST, "what it stands on was lost");
    }

    private boolean end(LeaseState how, String reason) {
        boolean isFirst = end.compareAndSet(null, new End(how, reason));
        if (isFirst) {
            if (limit != null) {
                limit.end();
            }
            Listener told = listener;
            if (told != null) {
                listener = null;
                told.onEnded(this, how);
            }
            if (how == LeaseState.LOST) {
                tellObserver();
            }
        }
        return isFirst;
    }

    @Override
    public void observe(Observer only) {
        observer.set(only);
        if (end.get() != null) { // whoever ended it has looked before
            tellObserver();
        }
    }

    private void tellObserver() {
        Observer told = observer.getAndSet(null);
        End last = end.get();
        if (told != null && last != null) {
            if (last.state() == LeaseState.LOST) {
                told.onLost(last.reason());
            } else {
                told.onReleased();
            }
        }
    }

    /** Tells of requests to give the lock back; the observer of them, too. */
    void listen(Consumer<RevocationRequest> only) {
        Observer told = observesRequests.compareAndSet(false, true) ? observer.get() : null;
        if (told != null) {
            hold.onRevocationRequested(request -> told.onRevocationRequested());
        }
        hold.onRevocationRequested(only);
    }

    @Override
    public CompletableFuture<Void> release(boolean waits) {
        if (endByNow() == null && isLostThere()) {
            onLost();
        }
        boolean isReleased = end(LeaseState.RELEASED, "");
        giveBack(waits ? hold::release : hold::releaseInBackground);
        if (isReleased) {
            tellObserver();
        }
        return gone;
    }

    private void giveBack(Runnable how) {
        if (!givenBack.compareAndSet(false, true)) {
            return;
        }
        try {
            how.run();
            Completion.forward(hold.released(), gone);
        } catch (RuntimeException e) {
            gone.completeExceptionally(e);
        } catch (Error e) { // nobody knows whether it is given back
            gone.completeExceptionally(e);
            throw e;
        }
    }

    @Override
    public String toString() {
        return "of " + hold;
    }
}
