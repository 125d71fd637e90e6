// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
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
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * One hold: a share in a grant, or in several that were acquired as one. Each grant is given back with its last hold.
 * Re-entry makes one of these, so it is small: who is told of its end is listed on demand.
 */
public final class Hold implements MultiLease, Held.Listener {
    private static final AtomicReferenceFieldUpdater<Hold, @Nullable Closing> CLOSING =
            AtomicReferenceFieldUpdater.newUpdater(Hold.class, Closing.class, "closing");
    private static final AtomicReferenceFieldUpdater<Hold, @Nullable Listeners> LISTENERS =
            AtomicReferenceFieldUpdater.newUpdater(Hold.class, Listeners.class, "listeners");

    /** The lock through which a hold was acquired: one of the engine, or a foreign one. */
    public interface Origin {
        LockGroup group();

        Callbacks callbacks();

        /** The name of the client in messages. */
        String ownerLabel();

        void verify(Hold hold) throws InterruptedException;

        void listen(Hold hold, Consumer<RevocationRequest> listener);

        /** Waits for what was given back with the hold, if the lock is to; {@code tells} if it throws the refusal. */
        void confirm(Hold closed, boolean tells);

        /** What sets the timers of holds. Throws if they belong to the thread that acquires them for good. */
        EngineScheduler timers();

        /** Runs, on a thread of the client, what gives back a hold. */
        void runClose(Runnable close);

        /** Of the client. */
        LastResort lastResort();

        /** Has the engine look at the last resort. */
        void wakeEngine();
    }

    /** What a hold was closed as, and when what was given back with it is gone. */
    private record Closing(LeaseState as, CompletableFuture<Void> released) {
        static Closing givingBackNothing(LeaseState as) {
            return new Closing(as, CompletableFuture.completedFuture(null)); // nobody outside sees it
        }
    }

    private static final Duration MOST_DELAY = Duration.ofDays(36_500);
    private static final Closing DECIDING = Closing.givingBackNothing(LeaseState.HELD); // before each of the others
    private static final Closing RELEASED = Closing.givingBackNothing(LeaseState.RELEASED);
    private static final Closing LOST = Closing.givingBackNothing(LeaseState.LOST);

    private final Origin lock;
    private final LastResort lastResort; // reached without a call
    private final Grant grant;
    private final LockData data;
    private volatile @Nullable Closing closing;
    private volatile @Nullable Listeners listeners;
    private volatile @Nullable Loss loss;

    /** When it was lost, and whether an exception has told its owner. */
    private static final class Loss {
        private final long at;
        private volatile boolean told;

        Loss(long at) {
            this.at = at;
        }
    }

    public Hold(Origin lock, Grant grant, LockData data) {
        this.lock = lock;
        this.lastResort = lock.lastResort();
        this.grant = grant;
        this.data = data;
    }

    /** Opens the first hold on a grant, and hears of its loss. Whatever is thrown in here, the grant is given back. */
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

    boolean standsOn(Held part) {
        return grant.contains(part);
    }

    @Nullable
    Held partOn(LockSpec spec) {
        return grant.on(spec);
    }

    /** What this hold stands on was lost. Any thread. */
    @Override
    public void onLost(Held part) {
        Listeners told = listeners;
        if (told != null && !isClosed()) { // else the thread that closes it tells
            told.end(LeaseState.LOST);
        }
        data.lose(this);
    }

    /** Notes when it was lost; the first time counts. */
    void noteLoss(long now) {
        if (loss == null) {
            loss = new Loss(now);
        }
    }

    /** An exception tells its owner of the loss. */
    void noteTold() {
        Loss noted = loss;
        if (noted != null) {
            noted.told = true;
        }
    }

    /** Whether it was lost before that, and its owner was told, so that nobody can still be about to close it. */
    boolean isForgottenSince(long before) {
        Loss noted = loss;
        return noted != null && noted.told && noted.at - before <= 0;
    }

    boolean isClosed() {
        return closing != null;
    }

    /** What it was closed as; null before that is known. */
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
        LockOptions.defaults().withHoldAtMost(most); // in its bounds
        if (!isStanding()) {
            return false; // others may stand on what this one did
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

    public Listeners listeners() {
        Listeners made = listeners;
        if (made != null) {
            return made;
        }
        made = new Listeners(lock.callbacks());
        if (!LISTENERS.compareAndSet(this, null, made)) {
            return Objects.requireNonNull(listeners);
        }
        // Looked at afterwards: what happens from now on finds them. The thread that is just closing it tells them.
        Closing closed = decided();
        if (closed != null) {
            tell(made, closed);
        } else if (!isClosed() && isLost()) {
            made.end(LeaseState.LOST);
        }
        return made;
    }

    private static void tell(Listeners told, Closing closed) {
        Completion.forward(closed.released, told.givenBack);
        told.end(closed.as);
    }

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
            if (!isClosed()) { // it is lost
                close.run();
            }
        });
        return listeners().released();
    }

    /** From now on any thread may close it. Its owner may re-enter as long as it stands. */
    public void letAnyThreadClose() {
        requireMayClose();
        data.expectOtherThreads();
        listeners().anyThreadCloses = true;
    }

    private void requireMayClose() {
        Listeners told = listeners;
        if (!data.mayClose() && (told == null || !told.anyThreadCloses)) {
            throw new IllegalMonitorStateException("this hold of the lock " + path() + " belongs to thread "
                    + data.ownerName() + ", which is alive: only that thread may close it");
        }
    }

    /**
     * Closes it, giving back what only it stands on; {@link Origin#confirm} waits for that. Returns whether this call
     * did. If another thread is in the middle of that, this one does the same, so that nothing says HELD when either
     * returns: each step is done by the first who comes to it.
     */
    @CanIgnoreReturnValue
    public boolean beginClosing(boolean waits) {
        if (closing == null) {
            requireMayClose();
        }
        boolean begins = false;
        try {
            // What it is closed as is found out after that: a loss that is told to an open hold is seen then.
            begins = CLOSING.compareAndSet(this, null, DECIDING);
            if (begins || decided() == null) {
                decide(giveBack(waits));
            }
        } catch (Throwable t) {
            lastResort.thrown = t; // nobody else does the rest
            lock.wakeEngine();
            decide(LOST);
            throw t;
        }
        return begins;
    }

    private void decide(Closing last) {
        if (CLOSING.compareAndSet(this, DECIDING, last)) {
            Listeners told = listeners;
            if (told != null) {
                tell(told, last);
            }
        }
    }

    /** The last hold looks at the clock; the others rely on what is known. */
    private Closing giveBack(boolean waits) {
        data.takeOut(this);
        Grant unneeded = data.unneededWithout(this);
        if (unneeded.isEmpty()) {
            return grant.isKnownAsLost() ? LOST : RELEASED;
        }
        CompletableFuture<Void> released = unneeded.release(waits);
        return new Closing(isLost() ? LeaseState.LOST : LeaseState.RELEASED, released);
    }

    /** Completes when what is given back with the hold, which is closed, is known to be gone. */
    public CompletableFuture<Void> givenBack() {
        Closing closed = decided();
        return closed != null ? closed.released : listeners().givenBack; // another thread is just giving it back
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

    /** Who is told of one hold, and who but its owner may close it. Most end without anybody asking for that. */
    public static final class Listeners {
        private final Callbacks callbacks;
        private volatile boolean anyThreadCloses;
        private final CompletableFuture<LeaseState> ended = new CompletableFuture<>();
        private final CompletableFuture<Void> givenBack = new CompletableFuture<>();
        private final AtomicReference<@Nullable CompletionStage<LeaseState>> endedForAll = new AtomicReference<>();
        private final AtomicReference<@Nullable RevocationListeners> revocations = new AtomicReference<>();

        Listeners(Callbacks callbacks) {
            this.callbacks = callbacks;
        }

        /** The hold is closed, or lost; the first time counts. */
        void end(LeaseState how) {
            ended.complete(how);
            RevocationListeners told = revocations.get(); // a listener that comes later sees that the hold has ended
            if (told != null) {
                told.end();
            }
        }

        /** Runs the listener when the hold is lost, where losses are told. */
        void onLost(Runnable listener) {
            Objects.requireNonNull(listener, "listener");
            Completion.on(ended, (state, failure) -> {
                if (state == LeaseState.LOST) {
                    callbacks.tellLoss(listener);
                }
            });
        }

        public RevocationListeners revocations(Supplier<RevocationListeners> maker) {
            return Objects.requireNonNull(revocations.updateAndGet(made -> made != null ? made : maker.get()));
        }

        /** One stage for all applications that ask, since one for each would stay as long as the lease. */
        CompletionStage<LeaseState> ended() {
            return Objects.requireNonNull(endedForAll.updateAndGet(made -> made != null
                    ? made
                    : Completion.copy(ended, this::tellOfEnd).minimalCompletionStage()));
        }

        /** Ends when the hold is given back; for applications. */
        CompletableFuture<Void> released() {
            return Completion.copy(givenBack, callbacks::run);
        }

        private void tellOfEnd(Runnable task) {
            if (ended.getNow(LeaseState.HELD) == LeaseState.LOST) {
                callbacks.tellLoss(task);
            } else {
                callbacks.run(task);
            }
        }
    }
}
