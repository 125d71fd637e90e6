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
 * Makes a {@link ForeignLock} a lock of this library. A foreign lock belongs to another library, or is composed of
 * locks of several clients. This class adds owners and re-entry, leases, and the view as a
 * {@code java.util.concurrent} lock.
 *
 * <p>Holds are recorded as those of the engine are: in a table of this lock's own, or in that of the client on which
 * it works. A request blocks on the calling thread, inside the foreign lock. No engine sees it, so the table is told
 * when a request begins and ends: the check for dead owners needs to know who waits. Thread-safe.
 */
public final class AdaptedLock extends OwnedLock {
    private final ForeignLock foreign;

    private AdaptedLock(
            ForeignLock foreign,
            String nodeName,
            LockOptions options,
            Callbacks callbacks,
            @Nullable EngineClient client,
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
    }

    /**
     * A lock that works on no client, with a table of its own. The name of its nodes only has to be well-formed,
     * because it makes none.
     */
    public static AdaptedLock of(ForeignLock foreign, Callbacks callbacks) {
        return new AdaptedLock(
                foreign,
                "lock-",
                LockOptions.defaults(),
                callbacks,
                null,
                new LockDataTable(List.of(), System::nanoTime));
    }

    /**
     * A lock that works on the client of {@code on} and shares the table of that client. It is reported under the
     * kind of node that {@code on} makes.
     */
    public static AdaptedLock on(EngineLock on, ForeignLock foreign, LockOptions options) {
        EngineClient client = on.client();
        String nodeName = on.group().all().get(0).nodeName();
        return new AdaptedLock(foreign, nodeName, options, client.callbacks(), client, on.table);
    }

    // ---- Acquiring.

    /**
     * Sends the request through the foreign lock, on the calling thread. Whatever is thrown, the table no longer
     * counts the request as waiting, and observers hear how it ended.
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
                // The error may have come between the grant and the return of the foreign hold. Then nobody could
                // give it back. So the client ends, if there is one.
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
     * Tells observers and the table that a request begins. The caller must see to it that the table hears of its end.
     */
    private @Nullable ObservedRequest begin() {
        ObservedRequest observed = worksOn == null ? null : worksOn.observe(group);
        table.beginWait(group);
        if (worksOn == null) {
            table.forgetDeadOwners(); // without a client, no session beats that would do it
        }
        return observed;
    }

    /**
     * Translates the request into a call of the foreign lock. A try neither waits for a holder nor ends by an
     * interruption.
     */
    private Optional<ForeignLock.Hold> ask(Mode mode, @Nullable Duration most, boolean isInterruptible)
            throws InterruptedException {
        if (mode == Mode.TRY) {
            return Blocking.uninterruptibly(() -> foreign.tryAcquire(Duration.ZERO));
        } else if (most != null) {
            return foreign.tryAcquire(most);
        }
        return Optional.of(isInterruptible ? foreign.acquire() : foreign.acquireUninterruptibly());
    }

    /**
     * Opens a hold on what the foreign lock has granted. Whatever is thrown in here, the foreign hold is given back,
     * since nobody else knows of it. {@code record} finds the record of the hold's owner.
     */
    private Hold open(ForeignLock.Hold hold, Supplier<LockData> record, @Nullable ObservedRequest observed) {
        LockData data;
        ForeignHeld held;
        try {
            data = record.get();
            held = new ForeignHeld(group.all().get(0), hold, callbacks(), limit());
        } catch (Throwable t) {
            hold.releaseInBackground();
            throw t;
        }
        return Hold.open(this, Grant.of(held), data, observed);
    }

    /** How long a hold may last; null without a limit, and without a client whose scheduler could count the time. */
    private @Nullable HoldLimit limit() {
        return worksOn == null ? null : HoldLimit.of(group, worksOn.scheduler());
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        requireOpen();
        // First: a foreign lock whose leases belong to threads throws here, before anything has begun.
        CompletableFuture<ForeignLock.Hold> request = foreign.acquireAsync();
        ObservedRequest observed = begin();
        // A foreign lock may complete its future on any thread. Whatever follows from that runs among the callbacks.
        Executor delivery = task -> {
            table.endWait(group);
            callbacks().run(task);
        };
        AsyncRequest following = new AsyncRequest(this, delivery, observed, null);
        following.follow(request, hold -> open(hold, () -> asynchronous, observed), () -> request.cancel(false));
        return following;
    }

    // ---- Its holds.

    /**
     * Only throws the failure of the release. There is nothing to wait for here: if the foreign lock waits for its
     * release, it has done so when it was called.
     */
    @Override
    public void confirm(Hold closed, boolean tells) {
        CompletableFuture<Void> givenBack = closed.givenBack();
        if (tells && givenBack.isCompletedExceptionally()) {
            try {
                givenBack.getNow(null);
            } catch (CompletionException e) {
                Throwables.throwIfUnchecked(Objects.requireNonNull(e.getCause()));
            }
        }
    }

    /** Throws without a client: no thread of ours could close the hold later. */
    @Override
    public EngineScheduler timers() {
        if (worksOn == null) {
            throw new UnsupportedOperationException("the lock " + path()
                    + " is of another library or of several clients, so its leases belong to the thread that acquires"
                    + " them: close the lease on that thread");
        }
        return worksOn.scheduler();
    }

    /** Runs among the callbacks, not on the engine thread, because the release of a foreign lock may block. */
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
     * Several holds of a thread share the foreign hold, which calls its listeners until it is released. So a listener
     * of a hold that is closed, or lost, is silenced here.
     */
    @Override
    public void listen(Hold hold, Consumer<RevocationRequest> listener) {
        held(hold).listen(request -> {
            if (hold.isStanding()) {
                listener.accept(request);
            }
        });
    }

    /** What a hold of this lock stands on: a foreign lock acquires one thing, however many locks it consists of. */
    private static ForeignHeld held(Hold hold) {
        return (ForeignHeld) hold.grant().first();
    }

    // ---- Asking.

    @Override
    public List<Participant> participants() throws InterruptedException {
        return foreign.participants();
    }

    @Override
    public String toString() {
        return super.toString() + ", " + foreign;
    }
}
