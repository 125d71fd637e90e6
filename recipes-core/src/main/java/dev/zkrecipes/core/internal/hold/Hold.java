// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.LastResort;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * One hold of a lock, and the lease that the application gets for it. It is backed by a {@link Grant}. Holds of one
 * thread may share the parts of a grant; each part is released with the last hold that it backs.
 *
 * <p>Re-entry creates one hold and little else, so a hold is small. Futures and listeners are created on demand, and
 * are then brought up to date.
 *
 * <p><b>Closing.</b> {@link #closing} goes from null to {@link #DECIDING}, and from there to a result. In between, the
 * hold counts as closed, but its state is still that of its grant. If several threads close a hold at the same time,
 * all of them go through the same steps, and each step takes effect once. So the state is not HELD when any of them
 * returns. If a thread dies in the middle, no other thread would complete the close. So the dying thread leaves its
 * error in the {@link LastResort}, and the engine ends the client.
 *
 * <p>Any thread may query the hold. Only its owner may close it, unless {@link LockData#mayClose} or
 * {@link #letAnyThreadClose} allows others to.
 */
public final class Hold implements MultiLease, Held.Listener {
    private static final AtomicReferenceFieldUpdater<Hold, @Nullable Closing> CLOSING =
            AtomicReferenceFieldUpdater.newUpdater(Hold.class, Closing.class, "closing");
    private static final AtomicReferenceFieldUpdater<Hold, @Nullable HoldListeners> LISTENERS =
            AtomicReferenceFieldUpdater.newUpdater(Hold.class, HoldListeners.class, "listeners");

    /** The lock through which a hold was acquired: a lock of the engine, or a foreign lock. */
    public interface Origin {
        /** The requested locks. */
        LockGroup group();

        Callbacks callbacks();

        /** The name of the client in messages. */
        String ownerLabel();

        /** Asks the server, or the foreign lock, whether the hold is still valid, and throws if it is not. */
        void verify(Hold hold) throws InterruptedException;

        /** Registers a listener for requests to release the lock. */
        void listen(Hold hold, Consumer<RevocationRequest> listener);

        /**
         * Waits until everything that was released with the closed hold is gone, unless the lock releases in the
         * background. If {@code tells} is true, throws the error with which the release was refused.
         */
        void confirm(Hold closed, boolean tells);

        /**
         * Releases what another thread could not, if the calling thread owns the closed hold. For a lock that only its
         * own thread can release; by default, does nothing.
         */
        default void releaseByOwner(Hold closed) {}

        /**
         * The scheduler for the timers of holds. Throws if holds of this lock can only be closed by their own thread.
         */
        EngineScheduler timers();

        /** Runs a timer's task, which closes a hold, on a thread that may release this lock. */
        void runClose(Runnable close);

        /** Where a thread that dies in the middle of a close leaves its error, for the engine to find. */
        LastResort lastResort();
    }

    /** How a hold was closed, and a future that completes once the nodes released with it are gone. */
    private record Closing(LeaseState as, CompletableFuture<Void> released) {
        static Closing givingBackNothing(LeaseState as) {
            return new Closing(as, CompletableFuture.completedFuture(null)); // shared: applications get copies
        }
    }

    private static final Duration MOST_DELAY = Duration.ofDays(36_500);
    private static final Closing DECIDING = Closing.givingBackNothing(LeaseState.HELD); // closed, but no result yet
    private static final Closing RELEASED = Closing.givingBackNothing(LeaseState.RELEASED);
    private static final Closing LOST = Closing.givingBackNothing(LeaseState.LOST);

    private final Origin lock;
    private final LastResort lastResort; // a field: after a stack overflow there may be no stack for a call
    private final Grant grant;
    private final LockData data; // the record of the hold's owner
    private volatile @Nullable Closing closing; // null while the hold is open
    private volatile @Nullable HoldListeners listeners; // null until somebody needs them

    public Hold(Origin lock, Grant grant, LockData data) {
        this.lock = lock;
        this.lastResort = lock.lastResort();
        this.grant = grant;
        this.data = data;
    }

    /**
     * Opens the first hold on a new grant. From now on the grant notifies the hold of a loss. If anything is thrown
     * here, the grant is released, because the caller gets no lease to close.
     */
    public static Hold open(Origin lock, Grant grant, LockData data, @Nullable ObservedRequest observed) {
        Hold opened = new Hold(lock, grant, data);
        try {
            grant.attach(data.opened(opened));
            if (observed != null) {
                observed.granted(grant);
            }
            return opened;
        } catch (Throwable t) {
            opened.beginClosing(true);
            throw t;
        }
    }

    /** The lock through which this hold was acquired. */
    public Origin lock() {
        return lock;
    }

    public Grant grant() {
        return grant;
    }

    public LockData data() {
        return data;
    }

    LockGroup group() {
        return lock.group();
    }

    /** Called when a part of the grant was lost. May be called from any thread. */
    @Override
    public void onLost(Held part) {
        HoldListeners told = listeners;
        if (told != null && !isClosed()) { // otherwise the closing thread notifies them once it has a result
            told.end(LeaseState.LOST);
        }
        data.lose(this);
    }

    boolean isClosed() {
        return closing != null;
    }

    /** Returns the result of closing; null while the hold is open or a thread is still closing it. */
    private @Nullable Closing decided() {
        Closing closed = closing;
        return closed != null && closed.as == LeaseState.HELD ? null : closed;
    }

    /** Whether the hold is open and not lost. */
    public boolean isStanding() {
        return !isClosed() && !isLost();
    }

    boolean isLost() {
        return grant.isLost();
    }

    @Override
    public String path() {
        return group().path();
    }

    @Override
    public long fencingToken() {
        Set<Long> tokens = new HashSet<>(fencingTokens().values());
        if (tokens.size() > 1) {
            throw new IllegalStateException("the locks " + path()
                    + " were not entered together, so they have no token in common: see fencingTokens()");
        }
        return tokens.iterator().next();
    }

    @Override
    public Map<String, Long> fencingTokens() {
        requireOpenAndStanding();
        return grant.tokens();
    }

    @Override
    public LeaseState state() {
        Closing closed = decided();
        return closed == null ? grant.state() : closed.as;
    }

    @Override
    public boolean isValid() {
        return state() == LeaseState.HELD;
    }

    @Override
    public void verify() throws InterruptedException {
        lock.verify(this);
    }

    @Override
    public boolean prolong(Duration most) {
        LockOptions.defaults().withHoldAtMost(most); // throws unless the time is within the bounds of that option
        if (!isStanding()) {
            return false; // a closed hold must not prolong a grant that may back other holds
        }
        grant.prolong(most);
        return isStanding();
    }

    @Override
    public Op guard() {
        List<Op> all = guards();
        if (all.size() > 1) {
            throw new IllegalStateException("the lease of " + path() + " stands on " + all.size()
                    + " nodes, which one operation cannot check: put all of guards() into the multi");
        }
        return all.get(0);
    }

    @Override
    public List<Op> guards() {
        requireOpenAndStanding();
        return grant.guards();
    }

    @Override
    public void onLost(Runnable listener) {
        listeners().onLost(listener);
    }

    @Override
    public void onRevocationRequested(Consumer<RevocationRequest> listener) {
        lock.listen(this, Objects.requireNonNull(listener, "listener"));
    }

    @Override
    public CompletionStage<LeaseState> ended() {
        return listeners().ended();
    }

    /** Returns the futures and listeners of this hold, which the first call creates. */
    public HoldListeners listeners() {
        HoldListeners made = listeners;
        if (made != null) {
            return made;
        }
        made = new HoldListeners(lock.callbacks());
        if (!LISTENERS.compareAndSet(this, null, made)) {
            return Objects.requireNonNull(listeners);
        }
        // The state is read after the listeners are published, so whatever happens from now on finds them. If a thread
        // is closing the hold at this moment, that thread notifies them.
        Closing closed = decided();
        if (closed != null) {
            tell(made, closed);
        } else if (!isClosed() && isLost()) {
            made.end(LeaseState.LOST);
        }
        return made;
    }

    /** Passes the result of closing to the futures and listeners. */
    private static void tell(HoldListeners told, Closing closed) {
        Completion.forward(closed.released, told.givenBack);
        told.end(closed.as);
    }

    /** A refused release is reported only by the call that closed the hold, and only if the hold was not lost. */
    @Override
    public void close() {
        boolean closes = beginClosing(true);
        lock.confirm(this, closes && state() == LeaseState.RELEASED);
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        beginClosing(false);
        lock.releaseByOwner(this);
        return listeners().released();
    }

    /**
     * Blocks no thread during the delay. A timer of the engine closes the hold, so from now on any thread may close it.
     */
    @Override
    public CompletableFuture<Void> closeAfter(Duration delay) {
        Objects.requireNonNull(delay, "delay");
        if (delay.isNegative() || delay.compareTo(MOST_DELAY) > 0) {
            throw new IllegalArgumentException("delay is " + delay + ", must be from 0 to 36500 days");
        }
        if (delay.isZero() || isClosed()) {
            return closeAsync();
        }
        EngineScheduler timers = lock.timers();
        letAnyThreadClose();
        Runnable close = () -> lock.runClose(() -> beginClosing(false));
        Timer timer = timers.schedule(delay, close);
        Completion.on(listeners().ended, (how, failure) -> {
            timer.cancel();
            if (!isClosed()) { // it was lost, so there is no reason to keep it open
                close.run();
            }
        });
        return listeners().released();
    }

    /**
     * Lets any thread close the hold from now on, even while its owner is alive. The owner may still re-enter while the
     * hold is open and not lost, see {@link LockData#reenter}.
     */
    public void letAnyThreadClose() {
        requireMayClose();
        data.expectOtherThreads();
        listeners().anyThreadCloses = true;
    }

    /** Whether a thread other than the owner may close the hold while the owner is alive. */
    boolean isClosedByAnyThread() {
        HoldListeners told = listeners;
        return told != null && told.anyThreadCloses;
    }

    private void requireMayClose() {
        if (!data.mayClose() && !isClosedByAnyThread()) {
            throw new IllegalMonitorStateException("this hold of the lock " + path() + " belongs to thread "
                    + data.ownerName() + ", which is alive: only that thread may close it");
        }
    }

    /**
     * Closes the hold, and releases the parts of its grant that back no other hold. Returns whether this call closed
     * the hold. If {@code waits} is true, the caller calls {@link Origin#confirm} next, so a foreign lock may already
     * block in this call.
     *
     * <p>If another thread is closing the hold at this moment, and the calling thread may close it, too, this call goes
     * through the same steps. Each step is done by the first thread to reach it, and the state is not HELD when either
     * call returns. A thread that may not close it is refused: a foreign lock may let no other thread release it.
     */
    @CanIgnoreReturnValue
    public boolean beginClosing(boolean waits) {
        if (decided() == null) {
            requireMayClose();
        }
        boolean begins = false;
        try {
            // The result is determined only after this update. A loss that still found the hold open has notified the
            // listeners of LOST. That loss is visible here, so the result is LOST as well.
            begins = CLOSING.compareAndSet(this, null, DECIDING);
            if (begins || decided() == null) {
                decide(giveBack(waits));
            }
        } catch (Throwable t) {
            lastResort.thrown = t; // ends the client, because no other thread would complete the close
            lastResort.wakeEngine();
            decide(LOST);
            throw t;
        }
        return begins;
    }

    /** Sets the result and notifies the listeners, unless another thread was faster. */
    private void decide(Closing last) {
        if (CLOSING.compareAndSet(this, DECIDING, last)) {
            HoldListeners told = listeners;
            if (told != null) {
                tell(told, last);
            }
        }
    }

    /**
     * Removes the hold from its record, and releases the parts that back no other hold. Only the last hold on a grant
     * reads the clock to see whether the grant is lost. Other holds rely on what is already known, so that closing a
     * re-entered hold stays cheap.
     */
    private Closing giveBack(boolean waits) {
        data.takeOut(this);
        Grant unneeded = data.unneededWithout(this);
        if (unneeded.isEmpty()) {
            return grant.isKnownAsLost() ? LOST : RELEASED;
        }
        CompletableFuture<Void> released = unneeded.release(waits);
        return new Closing(grant.isLost() ? LeaseState.LOST : LeaseState.RELEASED, released);
    }

    /** Returns a future that completes once the nodes released with this closed hold are known to be gone. */
    public CompletableFuture<Void> givenBack() {
        Closing closed = decided();
        return closed != null ? closed.released : listeners().givenBack; // another thread is still closing it
    }

    public void requireNotLost() {
        grant.requireNotLost();
    }

    public void requireOpenAndStanding() {
        requireNotLost();
        if (isClosed()) {
            throw new IllegalMonitorStateException("this hold of the lock " + path() + " is closed");
        }
    }

    @Override
    public String toString() {
        return "Lease[" + path() + ", " + state() + ", " + grant + "]";
    }
}
