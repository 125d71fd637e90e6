// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import com.google.common.base.Throwables;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockObserver.Ending;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.hold.ForeignHeld;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.Hold;
import dev.zkrecipes.core.internal.hold.HoldLimit;
import dev.zkrecipes.core.internal.hold.LockData;
import dev.zkrecipes.core.internal.hold.LockDataTable;
import dev.zkrecipes.core.internal.hold.ObservedRequest;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.spi.ForeignLock;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Adapts a {@link ForeignLock} to a lock of this library. A foreign lock belongs to another library, or is composed of
 * locks of several clients. This class adds owners and re-entry, leases, and the view as a {@code java.util.concurrent}
 * lock.
 *
 * <p>Holds are recorded like those of the engine: in the table of the client that the lock works on, or in a table of
 * its own if there is no client. A request blocks on the calling thread, inside the foreign lock. No engine sees it, so
 * this class notifies the table when a request begins and ends: the check for dead owners needs to know who waits.
 * Thread-safe.
 */
public final class AdaptedLock extends OwnedLock {
    private final ForeignLock foreign;
    private final @Nullable EngineClient timer; // measures the time limit of holds; null if there is none

    private AdaptedLock(
            ForeignLock foreign,
            String nodeName,
            LockOptions options,
            Callbacks callbacks,
            @Nullable EngineClient client,
            @Nullable EngineClient timer,
            LockDataTable holds) {
        super(
                client,
                callbacks,
                LockGroup.of(LockSpec.foreign(foreign, nodeName, options)),
                Owner.THREAD,
                holds,
                null,
                false);
        this.foreign = foreign;
        this.timer = timer;
    }

    /** Returns a lock without a client, with a table of its own. */
    public static AdaptedLock of(ForeignLock foreign) {
        return of(foreign, LockOptions.defaults(), null);
    }

    /**
     * Returns a lock without a client, with a table of its own. The client {@code timer} measures the time that the
     * options allow, and runs the callbacks; it is null if none of the parts has a client, and then the options set no
     * limit. The name of the lock's nodes only has to be well-formed, because it creates none.
     */
    public static AdaptedLock of(ForeignLock foreign, LockOptions options, @Nullable EngineClient timer) {
        Callbacks callbacks = timer == null ? Callbacks.ofNoClient() : timer.callbacks();
        return new AdaptedLock(
                foreign, "lock-", options, callbacks, null, timer, new LockDataTable(List.of(), System::nanoTime));
    }

    /**
     * Returns a lock that works on the client of {@code on} and shares the table of that client. The lock is reported
     * under the kind of node that {@code on} creates.
     */
    public static AdaptedLock on(EngineLock on, ForeignLock foreign, LockOptions options) {
        EngineClient client = on.client();
        String nodeName = on.group().all().get(0).nodeName();
        return new AdaptedLock(foreign, nodeName, options, client.callbacks(), client, client, on.table);
    }

    // ---- Acquiring.

    /**
     * Sends the request through the foreign lock, on the calling thread. Even if this throws, the table no longer
     * counts the request as waiting, and observers are notified of how it ended.
     */
    @Override
    Optional<Lease> request(Mode mode, @Nullable Duration most, boolean isInterruptible) throws InterruptedException {
        ObservedRequest observed = begin();
        try {
            Optional<Lease> lease =
                    ask(mode, most, isInterruptible).map(hold -> open(hold, this::mineToOpen, observed));
            if (observed != null) {
                observed.over(mode == Mode.TRY ? Ending.BUSY : Ending.TIMED_OUT); // no effect if it was granted
            }
            return lease;
        } catch (Throwable t) {
            if (t instanceof VirtualMachineError) {
                // The error may have occurred after the grant, but before the foreign hold was returned. Then nobody
                // could release that hold. So the client ends, if there is one.
                lastResort.thrown = t;
                lastResort.wakeEngine();
            }
            if (observed != null) {
                observed.failed(t);
            }
            throw t;
        } finally {
            table.endWait(group);
        }
    }

    /**
     * Notifies observers and the table that a request begins. The caller must ensure that the table is notified of its
     * end. Returns null if nobody observes the request.
     */
    private @Nullable ObservedRequest begin() {
        ObservedRequest observed = worksOn == null ? null : worksOn.observe(group);
        table.beginWait(group);
        if (worksOn == null) {
            table.lookForDeadOwnersNow(); // without a client there is no session whose beat would do it
        }
        return observed;
    }

    /**
     * Translates the request into a call of the foreign lock. A try does not wait for a holder, and an interruption
     * does not end it.
     */
    private Optional<ForeignLock.Hold> ask(Mode mode, @Nullable Duration most, boolean isInterruptible)
            throws InterruptedException {
        if (mode == Mode.TRY) {
            return Blocking.uninterruptibly(
                    () -> most == null ? foreign.tryAcquire(Duration.ZERO) : foreign.tryAtOnce(most));
        } else if (most != null) {
            return foreign.tryAcquire(most);
        }
        return Optional.of(isInterruptible ? foreign.acquire() : foreign.acquireUninterruptibly());
    }

    /**
     * Opens a hold on the hold that the foreign lock has granted. If anything is thrown here, the foreign hold is
     * released, because nobody else knows of it. {@code record} returns the record of the new hold's owner.
     */
    private Hold open(ForeignLock.Hold hold, Supplier<LockData> record, @Nullable ObservedRequest observed) {
        LockData data;
        ForeignHeld held;
        try {
            data = record.get();
            held = new ForeignHeld(group.all().get(0), hold, callbacks(), limit());
            if (worksOn == null && timer != null && held.limit() != null) {
                // When that client is closed, nobody measures the time any more. Parts that are not its own stay held.
                held.endBy(end -> timer.endBefore(path(), end));
            }
        } catch (Throwable t) {
            hold.releaseInBackground();
            throw t;
        }
        return Hold.open(this, Grant.of(held), data, observed);
    }

    /** Returns the time limit of a new hold; null if there is no limit. */
    private @Nullable HoldLimit limit() {
        return timer == null ? null : HoldLimit.of(group, timer.scheduler());
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        requireOpen();
        // First: a foreign lock whose leases belong to threads throws here, before anything has begun.
        CompletableFuture<ForeignLock.Hold> request = foreign.acquireAsync();
        ObservedRequest observed = begin();
        // A foreign lock may complete its future on any thread. Whatever follows from that runs as a callback.
        Executor delivery = task -> {
            table.endWait(group);
            callbacks().run(task);
        };
        AsyncRequest following = new AsyncRequest(this, delivery, observed, null);
        following.follow(request, hold -> open(hold, () -> asynchronous, observed), () -> request.cancel(false));
        return following;
    }

    // ---- Holds.

    /**
     * Throws the failure of the release if {@code tells} is true. There is nothing to wait for here: a foreign lock
     * that waits for its release has already done so in the call that released it. The owner releases here what
     * another thread could not.
     */
    @Override
    public void confirm(Hold closed, boolean tells) {
        releaseByOwner(closed);
        CompletableFuture<Void> givenBack = closed.givenBack();
        if (tells && givenBack.isCompletedExceptionally()) {
            try {
                givenBack.getNow(null);
            } catch (CompletionException e) {
                Throwables.throwIfUnchecked(Objects.requireNonNull(e.getCause()));
            }
        }
    }

    @Override
    public void releaseByOwner(Hold closed) {
        if (closed.data().isOfCaller()) {
            held(closed).releaseByOwner();
        }
    }

    @Override
    void confirm(Hold closed, boolean tells, @Nullable Deadline by) {
        if (!group.options().releasesInBackground()) {
            awaitGone(Objects.requireNonNull(worksOn), closed, by);
        }
        confirm(closed, tells);
    }

    /** Throws if there is no client, because then no thread of ours could close the hold later. */
    @Override
    public EngineScheduler timers() {
        if (worksOn == null) {
            throw new UnsupportedOperationException("the lock " + path()
                    + " is of another library or of several clients, so its leases belong to the thread that acquires"
                    + " them: close the lease on that thread");
        }
        return worksOn.scheduler();
    }

    /** Runs the task as a callback, not on the engine thread, because the release of a foreign lock may block. */
    @Override
    public void runClose(Runnable close) {
        callbacks().run(close);
    }

    @Override
    public void verify(Hold hold) throws InterruptedException {
        hold.requireOpenAndStanding();
        held(hold).verify();
        hold.requireOpenAndStanding(); // a part that was verified may be lost while another one is being verified
    }

    /**
     * Several holds of a thread share the foreign hold, which lasts until the last of them is closed. So the end of a
     * hold removes its listener.
     */
    @Override
    public void listen(Hold hold, Consumer<RevocationRequest> listener) {
        ForeignHeld held = held(hold);
        Consumer<RevocationRequest> told = request -> {
            if (hold.isStanding()) {
                listener.accept(request);
            }
        };
        held.listen(told);
        hold.listeners().onEnd(() -> held.stopTelling(told));
    }

    /**
     * Returns the single part of a hold of this lock: a foreign lock acquires one hold, however many locks it consists
     * of.
     */
    private static ForeignHeld held(Hold hold) {
        return (ForeignHeld) hold.grant().first();
    }

    // ---- Queries.

    @Override
    public List<Participant> participants() throws InterruptedException {
        return foreign.participants();
    }

    @Override
    public String toString() {
        return super.toString() + ", " + foreign;
    }
}
