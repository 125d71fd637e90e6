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
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A hold of a {@link ForeignLock}, which is a lock of another library or a multi-lock of several clients. The foreign
 * lock decides whether the hold is lost. This class adds the time limit, and calls foreign code with care: that code
 * may block, throw, or report a loss on any thread.
 *
 * <p>The foreign hold must be released exactly once, even after a loss, because only the foreign lock knows what a loss
 * leaves behind. Closing the last lease releases it. If the time limit ends first, a thread for losses releases it
 * while the lease is still open, even if it was lost before. {@link #giveBack} ensures that only the first of these
 * releases happens. Thread-safe.
 */
public final class ForeignHeld extends Held {
    private static final Logger log = LoggerFactory.getLogger(ForeignHeld.class);

    private final ForeignLock.Hold hold;
    private final Callbacks callbacks;
    private final AtomicReference<@Nullable ForeignRevocations> revocations = new AtomicReference<>();
    private final AtomicBoolean givenBack = new AtomicBoolean(); // whether the foreign release was called
    private final CompletableFuture<Void> gone = new CompletableFuture<>(); // completes with the foreign release
    private volatile @Nullable Thread releaser; // the thread that called the foreign release
    private boolean releasedByOwner; // of the owner's thread alone

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

    /** Also asks the foreign lock, which answers without blocking, and may know of a loss before it reports it. */
    @Override
    public boolean isKnownAsLost() {
        return end() == null ? isLostThere() : super.isKnownAsLost();
    }

    /** Returns false for a lost hold that was not released yet, because the foreign hold still has to be released. */
    @Override
    public boolean hasEnded() {
        return givenBack.get();
    }

    /** Whether the foreign lock says that the hold is lost. If the foreign lock throws, the hold counts as not lost. */
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
        return there == null ? lost(spec().path()) : there;
    }

    /**
     * Returns the exception with the foreign lock's own reason for a loss; null if there is none. A foreign lock that
     * is backed by leases of this library throws this exception when it is asked for tokens.
     */
    private @Nullable LockLostException lossThere() {
        try {
            var unused = hold.fencingTokens();
        } catch (LockLostException e) {
            return e;
        } catch (RuntimeException e) {
            // a lock of another library has no tokens, and gives no reason
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
        } catch (UnsupportedOperationException | IllegalMonitorStateException e) {
            throw refused(e);
        }
    }

    /** Also prolongs the limits of the leases that back the foreign lock, if they have any. */
    @Override
    public void prolong(Duration most) {
        super.prolong(most);
        hold.prolong(most);
    }

    /**
     * Queries the foreign lock. If it does not support the query, the error names the lock as the application knows it.
     */
    private <T> T told(Supplier<T> question) {
        try {
            return question.get();
        } catch (UnsupportedOperationException | IllegalMonitorStateException e) {
            throw refused(e);
        }
    }

    /** Leases that back the foreign lock are closed, not lost, if the time was over during the question. */
    private RuntimeException refused(RuntimeException why) {
        requireNotLost();
        return why instanceof IllegalMonitorStateException
                ? why
                : new UnsupportedOperationException("the lock " + spec().path() + ": " + why.getMessage(), why);
    }

    /**
     * Sets the listener, starts listening for a loss, and starts the time limit. Also reads the state once it listens,
     * because the foreign lock may show a loss some time before it reports it.
     */
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
        if (ends(reason) && lossThere() == null) { // otherwise the lease that backs it has logged its own loss
            LockLog.lost(spec().path(), reason);
        }
    }

    /**
     * Called when the time limit has elapsed, or cannot be measured any more. This may be the engine thread, and the
     * foreign lock may block while it is released, so a thread for losses releases it. A hold that has ended otherwise
     * is being released by the thread that closes it.
     */
    @Override
    public void lose(String reason) {
        if (ends(reason)) {
            LockLog.lost(spec().path(), reason);
        }
        if (super.isKnownAsLost()) {
            callbacks.tellLoss(() -> giveBack(hold::expire)); // no effect if that has happened
        }
    }

    /** Has the hold end before the client that measures its time: {@code register} returns what undoes that. */
    public void endBy(Function<Supplier<CompletableFuture<Void>>, Runnable> register) {
        Runnable undo = register.apply(() -> {
            lose(LockLog.CLIENT_CLOSED);
            return CompletableFuture.completedFuture(null);
        });
        Completion.on(gone, (nothing, failure) -> undo.run());
    }

    /** The time limit also counts for a hold of which a part was lost, because its other parts stay held. */
    @Override
    protected boolean isTimed() {
        return !givenBack.get();
    }

    @Override
    protected void onTime() {
        HoldLimit limit = limit();
        if (limit != null && limit.isOver()) {
            lose(limit.reason());
        }
    }

    /**
     * Ends the hold as lost, and notifies the listener and the observer. Returns false, with no effect, if it had
     * already ended.
     */
    private boolean ends(String reason) {
        boolean isFirst = endAsLost(reason);
        if (isFirst) {
            settleEnd();
            tellObserver();
        }
        return isFirst;
    }

    /**
     * Adds a listener for requests to release the lock, which is told until {@link #stopTelling}. The first call
     * registers with the foreign lock, once for all listeners and for the observer.
     */
    public void listen(Consumer<RevocationRequest> listener) {
        ForeignRevocations made = new ForeignRevocations(callbacks);
        ForeignRevocations known = revocations.compareAndExchange(null, made);
        if (known != null) {
            known.add(listener);
            return;
        }
        made.add(listener);
        Observer told = observer();
        try {
            hold.onRevocationRequested(request -> {
                if (told != null) {
                    told.onRevocationRequested();
                }
                made.tell(request);
            });
        } catch (RuntimeException | Error e) {
            revocations.set(null); // the next call tries again
            throw e;
        }
    }

    /** Removes a listener, because the hold that it belongs to has ended. */
    public void stopTelling(Consumer<RevocationRequest> listener) {
        ForeignRevocations known = revocations.get();
        if (known != null) {
            known.remove(listener);
        }
    }

    /** Looks first for a loss that was not reported yet: such a hold must end as LOST, not as RELEASED. */
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

    /**
     * Lets the thread that acquired the lock release what another thread could not, when the time was over. This
     * happens once, however many leases the thread closes, and however often: a lock that counts would release the
     * thread's next hold. Only the log reports a failure, because closing a lost lease throws nothing. Called by that
     * thread alone.
     */
    public void releaseByOwner() {
        if (givenBack.get() && releaser != Thread.currentThread() && !releasedByOwner) {
            releasedByOwner = true;
            try {
                hold.releaseByOwner();
            } catch (RuntimeException e) {
                logFailure(e);
            }
        }
    }

    private void logFailure(Throwable failure) {
        log.warn(
                "The lock {} was lost, and giving it back failed: it may stay held for others. See the cause, and"
                        + " free it by hand if it does.",
                spec().path(),
                failure);
    }

    /** Releases the foreign hold by {@code how}, unless it was released before. */
    private void giveBack(Runnable how) {
        if (!givenBack.compareAndSet(false, true)) {
            return;
        }
        releaser = Thread.currentThread();
        HoldLimit limit = limit();
        if (limit != null) {
            limit.end();
        }
        if (isKnownAsLost()) { // closing a lost lease throws nothing, so only the log can report a failure
            Completion.on(gone, (nothing, failure) -> {
                if (failure != null) {
                    logFailure(failure);
                }
            });
        }
        try {
            how.run();
            Completion.forward(hold.released(), gone);
        } catch (RuntimeException | Error e) {
            gone.completeExceptionally(e);
            Throwables.throwIfInstanceOf(e, Error.class); // nobody knows whether the lock was released
        }
    }

    @Override
    public String toString() {
        return "of " + hold;
    }
}
