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

/** A foreign lock as one of ours, with holds in a table of its own or in that of the client on which it works. */
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

    public static AdaptedLock of(ForeignLock foreign, Callbacks callbacks) {
        return new AdaptedLock(
                foreign,
                "lock-",
                LockOptions.defaults(),
                callbacks,
                null,
                new LockDataTable(List.of(), System::nanoTime));
    }

    /** A lock that works on the client of another one, for nodes of whose kind it is taken. */
    public static AdaptedLock on(EngineLock on, ForeignLock foreign, LockOptions options) {
        EngineClient client = on.client();
        String nodeName = on.group().all().get(0).nodeName();
        return new AdaptedLock(foreign, nodeName, options, client.callbacks(), client, on.table);
    }

    // ---- Acquiring.

    @Override
    Optional<Lease> request(Mode mode, @Nullable Duration most, boolean isInterruptible) throws InterruptedException {
        ObservedRequest observed = begin();
        try {
            Optional<Lease> lease =
                    ask(mode, most, isInterruptible).map(hold -> open(hold, this::mineToOpen, observed));
            if (observed != null) {
                observed.over(mode == Mode.TRY ? Ending.BUSY : Ending.TIMED_OUT); // unless it was granted
            }
            return lease;
        } catch (Throwable t) {
            if (t instanceof VirtualMachineError) { // the foreign lock may be left with what nobody gives back
                lastResort.thrown = t;
                wakeEngine();
            }
            if (observed != null) {
                observed.failed(t);
            }
            throw t;
        } finally {
            table.endWait(group);
        }
    }

    private @Nullable ObservedRequest begin() {
        ObservedRequest observed = worksOn == null ? null : worksOn.observe(group);
        table.beginWait(group);
        if (worksOn == null) {
            table.forgetDeadOwners(); // nobody else does
        }
        return observed;
    }

    private Optional<ForeignLock.Hold> ask(Mode mode, @Nullable Duration most, boolean isInterruptible)
            throws InterruptedException {
        if (mode == Mode.TRY) {
            return Blocking.uninterruptibly(() -> foreign.tryAcquire(Duration.ZERO));
        } else if (most != null) {
            return foreign.tryAcquire(most);
        }
        return Optional.of(isInterruptible ? foreign.acquire() : foreign.acquireUninterruptibly());
    }

    /** Whatever is thrown in here, the foreign hold is given back. */
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

    private @Nullable HoldLimit limit() {
        return worksOn == null
                ? null
                : group.holdAtMost()
                        .map(most -> new HoldLimit(worksOn.scheduler(), most))
                        .orElse(null);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        requireOpen();
        CompletableFuture<ForeignLock.Hold> request = foreign.acquireAsync();
        ObservedRequest observed = begin();
        Executor delivery = task -> {
            table.endWait(group);
            callbacks().run(task);
        };
        AsyncRequest following = new AsyncRequest(this, delivery, observed, null);
        following.follow(request, hold -> open(hold, () -> asynchronous, observed), () -> request.cancel(false));
        return following;
    }

    // ---- Its holds.

    /** The foreign lock has waited. */
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

    @Override
    public EngineScheduler timers() {
        if (worksOn == null) {
            throw new UnsupportedOperationException("the lock " + path()
                    + " is of another library or of several clients, so its leases belong to the thread that acquires"
                    + " them: close the lease on that thread");
        }
        return worksOn.scheduler();
    }

    /** The foreign lock may block. */
    @Override
    public void runClose(Runnable close) {
        callbacks().run(close);
    }

    @Override
    public void verify(Hold hold) throws InterruptedException {
        hold.requireOpenAndStanding();
        held(hold).verify();
        hold.requireOpenAndStanding(); // a part may be lost while another one is verified
    }

    @Override
    public void listen(Hold hold, Consumer<RevocationRequest> listener) {
        held(hold).listen(request -> {
            if (hold.isStanding()) {
                listener.accept(request);
            }
        });
    }

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
