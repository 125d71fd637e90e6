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
 * One hold of a lock, and the lease that the application gets for it. It stands on a {@link Grant}. Holds of one
 * thread may share the parts of a grant, and each part is released with the last hold that stands on it.
 *
 * <p>Re-entry creates one hold and little else, so a hold is small. Futures and listeners are created on demand, and
 * then learn what has happened before.
 *
 * <p><b>Closing.</b> {@link #closing} goes from null to {@link #DECIDING}, and from there to a result. In between,
 * the hold counts as closed, but still has the state of its grant. Threads that close one hold at the same time all
 * go through the same steps, and each step takes effect once, so the state is not HELD when any of them returns. If a
 * thread dies in the middle, nobody would do the rest: it leaves what was thrown in the {@link LastResort}, and the
 * engine ends the client.
 *
 * <p>Any thread may ask. Only the owner may close, unless {@link LockData#mayClose} or {@link #letAnyThreadClose}
 * says otherwise.
 */
public final class Hold implements MultiLease, Held.Listener {
    private static final AtomicReferenceFieldUpdater<Hold, @Nullable Closing> CLOSING =
            AtomicReferenceFieldUpdater.newUpdater(Hold.class, Closing.class, "closing");
    private static final AtomicReferenceFieldUpdater<Hold, @Nullable HoldListeners> LISTENERS =
            AtomicReferenceFieldUpdater.newUpdater(Hold.class, HoldListeners.class, "listeners");

    /** The lock through which a hold was acquired: a lock of the engine, or a foreign lock. */
    public interface Origin {
        /** What was asked for. */
        LockGroup group();

        Callbacks callbacks();

        /** The name of the client in messages. */
        String ownerLabel();

        /** Asks the server, or the foreign lock, whether the hold stands, and throws if it does not. */
        void verify(Hold hold) throws InterruptedException;

        /** Registers a listener for requests to release the lock. */
        void listen(Hold hold, Consumer<RevocationRequest> listener);

        /**
         * Waits until what was released with a closed hold is gone, unless the lock releases in the background. If it
         * {@code tells}, it throws the error with which the release was refused.
         */
        void confirm(Hold closed, boolean tells);

        /** Where holds set their timers. Throws if holds of this lock can only be closed by their own thread. */
        EngineScheduler timers();

        /** Runs a task of a timer that closes a hold, on a thread on which this lock may be released. */
        void runClose(Runnable close);

        /** Where a thread that dies in the middle of a close leaves what was thrown. The engine looks there. */
        LastResort lastResort();
    }

    /** How a hold was closed, and a future that completes once the nodes released with it are gone. */
    private record Closing(LeaseState as, CompletableFuture<Void> released) {
        static Closing givingBackNothing(LeaseState as) {
            return new Closing(as, CompletableFuture.completedFuture(null)); // shared: applications get copies
        }
    }

    private static final Duration MOST_DELAY = Duration.ofDays(36_500);
    private static final Closing DECIDING = Closing.givingBackNothing(LeaseState.HELD); // closed, without a result
    private static final Closing RELEASED = Closing.givingBackNothing(LeaseState.RELEASED);
    private static final Closing LOST = Closing.givingBackNothing(LeaseState.LOST);

    private final Origin lock;
    private final LastResort lastResort; // a field: after a stack overflow there may be no stack for a call
    private final Grant grant;
    private final LockData data; // the record of its owner
    private volatile @Nullable Closing closing; // null while it is open
    private volatile @Nullable HoldListeners listeners; // null until somebody wants to be told of its end

    public Hold(Origin lock, Grant grant, LockData data) {
        this.lock = lock;
        this.lastResort = lock.lastResort();
        this.grant = grant;
        this.data = data;
    }

    /**
     * Opens the first hold on a new grant, which tells it of a loss from now on. Whatever is thrown in here, the
     * grant is released, because the caller has no lease to close.
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

    /** The lock through which it was acquired. */
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

    /** A part of the grant was lost. Any thread. */
    @Override
    public void onLost(Held part) {
        HoldListeners told = listeners;
        if (told != null && !isClosed()) { // otherwise the closing thread tells them, once it has a result
            told.end(LeaseState.LOST);
        }
        data.lose(this);
    }

    boolean isClosed() {
        return closing != null;
    }

    /** The result of closing; null while the hold is open, or a thread is still closing it. */
    private @Nullable Closing decided() {
        Closing closed = closing;
        return closed != null && closed.as == LeaseState.HELD ? null : closed;
    }

    /** Whether it is open and not lost. */
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
            return false; // a closed hold must not prolong a grant on which other holds may stand
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

    /** The futures and listeners of this hold, created by the first call. */
    public HoldListeners listeners() {
        HoldListeners made = listeners;
        if (made != null) {
            return made;
        }
        made = new HoldListeners(lock.callbacks());
        if (!LISTENERS.compareAndSet(this, null, made)) {
            return Objects.requireNonNull(listeners);
        }
        // The state is read after the listeners can be seen: whatever happens from now on finds them. If a thread is
        // closing the hold at this moment, that thread tells them.
        Closing closed = decided();
        if (closed != null) {
            tell(made, closed);
        } else if (!isClosed() && isLost()) {
            made.end(LeaseState.LOST);
        }
        return made;
    }

    /** Passes the result of closing on. */
    private static void tell(HoldListeners told, Closing closed) {
        Completion.forward(closed.released, told.givenBack);
        told.end(closed.as);
    }

    /** Only the call that closed a hold which was not lost reports that the release was refused. */
    @Override
    public void close() {
        boolean closes = beginClosing(true);
        lock.confirm(this, closes && state() == LeaseState.RELEASED);
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        beginClosing(false);
        return listeners().released();
    }

    /** No thread waits meanwhile. A timer of the engine closes the hold, so any thread may close it from now on. */
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
     * From now on any thread may close the hold, even while its owner lives. The owner may still re-enter as long as
     * the hold stands, see {@link LockData#reenter}.
     */
    public void letAnyThreadClose() {
        requireMayClose();
        data.expectOtherThreads();
        listeners().anyThreadCloses = true;
    }

    /** Whether a thread other than the owner may close it while the owner lives. */
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
     * Closes the hold, and releases the parts of its grant on which no other hold stands. Returns whether this call
     * closed it. A caller that {@code waits} calls {@link Origin#confirm} next, so a foreign lock may block here
     * already.
     *
     * <p>If another thread is closing the hold at this moment, this call goes through the same steps. Each step is
     * done by the first thread that comes to it, and the state is not HELD when either call returns.
     */
    @CanIgnoreReturnValue
    public boolean beginClosing(boolean waits) {
        if (closing == null) {
            requireMayClose();
        }
        boolean begins = false;
        try {
            // The result is found out only after this. A loss that still found the hold open has told its listeners
            // LOST, and is seen here, so the result is LOST as well.
            begins = CLOSING.compareAndSet(this, null, DECIDING);
            if (begins || decided() == null) {
                decide(giveBack(waits));
            }
        } catch (Throwable t) {
            lastResort.thrown = t; // ends the client, since nobody else does the rest
            lastResort.wakeEngine();
            decide(LOST);
            throw t;
        }
        return begins;
    }

    /** Sets the result, unless another thread was faster, and tells the listeners. */
    private void decide(Closing last) {
        if (CLOSING.compareAndSet(this, DECIDING, last)) {
            HoldListeners told = listeners;
            if (told != null) {
                tell(told, last);
            }
        }
    }

    /**
     * Takes the hold out of its record, and releases what no other hold stands on. Only the last hold on a grant
     * reads the clock to see whether it is lost. Other holds rely on what is known, which keeps the end of a re-entry
     * cheap.
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

    /** Completes once the nodes released with this closed hold are known to be gone. */
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
