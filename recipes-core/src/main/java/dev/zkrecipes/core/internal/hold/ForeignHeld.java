// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import com.google.common.base.Throwables;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.spi.ForeignLock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a foreign lock has acquired. Lost, it is given back when it is closed; or with the end of its time. */
public final class ForeignHeld extends Held {
    private static final Logger log = LoggerFactory.getLogger(ForeignHeld.class);

    private final ForeignLock.Hold hold;
    private final Callbacks callbacks;
    private final AtomicBoolean observesRequests = new AtomicBoolean();
    private final AtomicBoolean givenBack = new AtomicBoolean();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

    public ForeignHeld(LockSpec spec, ForeignLock.Hold hold, Callbacks callbacks, @Nullable HoldLimit limit) {
        super(spec, limit);
        this.hold = hold;
        this.callbacks = callbacks;
    }

    @Override
    protected LeaseState standing() {
        return hold.state();
    }

    @Override
    public boolean isLost() {
        return state() == LeaseState.LOST;
    }

    @Override
    public boolean isKnownAsLost() {
        return end() == null ? isLostThere() : super.isKnownAsLost();
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
        LockLostException there = isLostThere() ? lossThere() : null;
        if (there != null) {
            return there;
        }
        End last = end();
        return new LockLostException("lost the lock " + spec().path() + (last == null ? "" : ": " + last.reason())
                + "; stop what it protects, close every lease of it, then acquire afresh");
    }

    /** What says why it was lost, if it stands on leases of this library; null otherwise. */
    private @Nullable LockLostException lossThere() {
        try {
            var unused = hold.fencingTokens();
        } catch (LockLostException e) {
            return e;
        } catch (RuntimeException e) {
            // it has none
        }
        return null;
    }

    @Override
    public Map<String, Long> tokens() {
        return told(hold::fencingTokens);
    }

    @Override
    public List<Op> guards() {
        return told(hold::guards);
    }

    public void verify() throws InterruptedException {
        try {
            hold.verify();
        } catch (UnsupportedOperationException e) {
            throw refused(e);
        }
    }

    @Override
    public void prolong(Duration most) {
        super.prolong(most);
        hold.prolong(most);
    }

    private <T> T told(Supplier<T> question) {
        try {
            return question.get();
        } catch (UnsupportedOperationException e) {
            throw refused(e);
        }
    }

    private UnsupportedOperationException refused(UnsupportedOperationException why) {
        return new UnsupportedOperationException("the lock " + spec().path() + ": " + why.getMessage(), why);
    }

    /** Takes the listener, and begins to listen for a loss and to count its time. */
    @Override
    public void attach(Listener only) {
        super.attach(only);
        hold.onLost(this::onLost);
        if (hold.state() == LeaseState.LOST) {
            onLost();
        }
        limitTime();
    }

    private void onLost() {
        String reason = "what it stands on was lost";
        if (ends(reason) && lossThere() == null) { // otherwise the log says why by now
            LockLog.lost(spec().path(), reason);
        }
    }

    @Override
    public void lose(String reason) {
        if (ends(reason)) {
            LockLog.lost(spec().path(), reason);
            callbacks.tellLoss(() -> giveBack(hold::expire));
        }
    }

    private boolean ends(String reason) {
        boolean isFirst = endAsLost(reason);
        if (isFirst) {
            settleEnd();
            tellObserver();
        }
        return isFirst;
    }

    /** Tells of requests to give the lock back; the observer of them, too. */
    public void listen(Consumer<RevocationRequest> only) {
        Observer told = observesRequests.compareAndSet(false, true) ? observer() : null;
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
        boolean isReleased = endAsReleased();
        if (isReleased) {
            settleEnd();
        }
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
        if (isKnownAsLost()) { // to close it throws nothing, so whoever does it would never know
            Completion.on(gone, (nothing, failure) -> {
                if (failure != null) {
                    log.warn(
                            "The lock {} was lost, and giving it back failed: it may stay held for others. See the cause, and"
                                    + " free it by hand if it does.",
                            spec().path(),
                            failure);
                }
            });
        }
        try {
            how.run();
            Completion.forward(hold.released(), gone);
        } catch (RuntimeException | Error e) {
            gone.completeExceptionally(e);
            Throwables.throwIfInstanceOf(e, Error.class); // nobody knows whether it is given back
        }
    }

    @Override
    public String toString() {
        return "of " + hold;
    }
}
