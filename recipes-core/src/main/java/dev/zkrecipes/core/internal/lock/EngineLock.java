// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import com.google.common.base.Preconditions;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockObserver.Ending;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.acquire.AcquireLoop;
import dev.zkrecipes.core.internal.acquire.Acquisition;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.acquire.Downgrade;
import dev.zkrecipes.core.internal.acquire.Requests;
import dev.zkrecipes.core.internal.ask.ParticipantQuery;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.hold.Hold;
import dev.zkrecipes.core.internal.hold.ObservedRequest;
import dev.zkrecipes.core.internal.hold.RevocationListeners;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** The blocking and the asynchronous API on top of acquisitions. Thread-safe. */
public final class EngineLock extends OwnedLock {
    private static volatile UnaryOperator<InterProcessLock> unwrap = lock -> lock;

    private final EngineClient client;
    private final boolean isObserved;

    private EngineLock(
            EngineClient client,
            LockGroup group,
            Owner owner,
            @Nullable LockSpec otherMode,
            boolean isExclusive,
            boolean isObserved) {
        super(client, client.callbacks(), group, owner, client.holds(), otherMode, isExclusive);
        this.client = client;
        this.isObserved = isObserved;
    }

    /** A lock on one path; observers are not told of it unless it is observed. */
    public static EngineLock of(EngineClient client, LockSpec spec, Owner owner, boolean isObserved) {
        return new EngineLock(client, LockGroup.of(spec), owner, null, false, isObserved);
    }

    /** One of two modes: the thread of the exclusive one may take the shared one, too, but not the other way round. */
    public static EngineLock mode(EngineClient client, LockSpec spec, LockSpec other, boolean isExclusive) {
        return new EngineLock(client, LockGroup.of(spec), Owner.THREAD, other, isExclusive, true);
    }

    public static EngineLock together(List<EngineLock> members, LockOptions options) {
        List<LockSpec> all = members.stream()
                .flatMap(member -> member.group().all().stream())
                .toList();
        LockGroup group = LockGroup.together(all, options);
        EngineClient client = members.get(0).client;
        for (EngineLock member : members) {
            Preconditions.checkArgument(
                    member.client == client,
                    "the lock %s is not of the same client as %s",
                    member.path(),
                    members.get(0).path());
        }
        return new EngineLock(client, group, Owner.THREAD, null, false, true);
    }

    /** Called when the class of the locks that delegate is loaded, so before there is one. */
    public static void unwrapBy(UnaryOperator<InterProcessLock> delegateOf) {
        unwrap = delegateOf;
    }

    /** What {@code lock} delegates to in the end; empty for a lock of another library, or of several clients. */
    public static Optional<EngineLock> behind(InterProcessLock lock) {
        InterProcessLock found = Objects.requireNonNull(lock, "lock");
        for (InterProcessLock inner = unwrap.apply(found); inner != found; inner = unwrap.apply(found)) {
            found = inner;
        }
        return found instanceof EngineLock engine ? Optional.of(engine) : Optional.empty();
    }

    public EngineClient client() {
        return client;
    }

    public boolean isSingle() {
        return group.isSingle();
    }

    // ---- Acquiring.

    /** A try waits for the answer no longer than the request time-out. */
    @Override
    Optional<Lease> request(Mode mode, @Nullable Duration most, boolean isInterruptible) throws InterruptedException {
        Duration timeout = client.requestTimeout();
        Duration limit = mode == Mode.TRY && (most == null || most.compareTo(timeout) > 0) ? timeout : most;
        Deadline deadline = limit == null ? null : Deadline.after(limit, client.scheduler());
        if (mode == Mode.QUEUE) {
            requireNoWaitForOneself();
        }
        HeldNode exclusive = toDowngrade();
        Acquisition wanted = exclusive == null
                ? new AcquireLoop(client.requests(), group, mode)
                : new Downgrade(client.requests(), group.all().get(0), exclusive, mode);
        ObservedRequest observed = observe();
        Hold opened = null;
        try {
            wanted.launch();
            Optional<Grant> granted = isInterruptible
                    ? awaitOrLeave(wanted, deadline, limit)
                    : Blocking.uninterruptibly(() -> await(wanted, deadline, limit));
            if (granted.isPresent()) {
                opened = Hold.open(this, granted.get(), mineToOpen(), observed);
            } else if (observed != null) {
                observed.over(mode == Mode.TRY ? Ending.BUSY : Ending.TIMED_OUT);
            }
            return Optional.ofNullable(opened);
        } catch (Throwable t) {
            try {
                leave(wanted, opened);
            } catch (Throwable again) {
                lastResort.thrown = again;
                wakeEngine();
                throw again;
            }
            if (observed != null) {
                observed.failed(t);
            }
            throw t;
        }
    }

    /** The caller gets an exception, so it must not be left with anything that nobody would ever give back. */
    private static void leave(Acquisition wanted, @Nullable Hold opened) {
        Grant granted = wanted.giveUpUnlessGranted();
        if (opened != null) {
            opened.beginClosing(false);
        } else if (granted != null) {
            granted.release();
        }
    }

    private @Nullable ObservedRequest observe() {
        return isObserved ? client.observe(group) : null;
    }

    /** Nothing is acquired by an interrupted thread unless the grant came first; then the flag is set again. */
    private Optional<Grant> awaitOrLeave(Acquisition wanted, @Nullable Deadline deadline, @Nullable Duration limit)
            throws InterruptedException {
        try {
            return await(wanted, deadline, limit);
        } catch (InterruptedException e) {
            Grant granted = wanted.giveUpUnlessGranted();
            if (granted == null) {
                throw e;
            }
            Thread.currentThread().interrupt();
            return Optional.of(granted);
        }
    }

    /** Empty if the lock is busy, at the end of the time or in a try. */
    private Optional<Grant> await(Acquisition wanted, @Nullable Deadline deadline, @Nullable Duration limit)
            throws InterruptedException {
        if (deadline != null
                && limit != null
                && Blocking.await(wanted.outcome(), deadline).isEmpty()) {
            Optional<LockException> unseen = unseen(client, path(), Optional.of(wanted), limit);
            if (wanted.giveUp()) {
                if (unseen.isPresent()) {
                    throw unseen.get();
                }
                return Optional.empty();
            }
        }
        return Blocking.await(wanted.outcome(), client.scheduler());
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        Acquisition acquisition = new AcquireLoop(client.requests(), group, Mode.QUEUE);
        Executor delivery = isObserved ? client.callbacks()::run : Runnable::run;
        ObservedRequest observed = observe();
        AsyncRequest request = new AsyncRequest(this, delivery, observed, acquisition);
        request.follow(
                acquisition.outcome(),
                granted -> Hold.open(this, granted.orElseThrow(), asynchronous, observed),
                acquisition::giveUp);
        acquisition.launch();
        return request;
    }

    /** As below, of a request of {@link #acquireAsync}; empty if the lock was seen to be busy otherwise. */
    public static Optional<LockException> unseen(
            EngineClient client, LockSpec spec, Optional<CompletableFuture<Lease>> request, Duration waited) {
        Optional<Acquisition> asked =
                request.map(made -> made instanceof AsyncRequest async ? async.acquisition : null);
        return unseen(client, spec.path(), asked, waited);
    }

    /** Why it is not known that the lock is busy, at the end of a wait; empty if it is. */
    private static Optional<LockException> unseen(
            EngineClient client, String path, Optional<Acquisition> request, Duration timeout) {
        boolean seen = request.isEmpty() || request.get().wasSeenBusy();
        Optional<LockException> obstacle = request.flatMap(Acquisition::obstacle);
        if (obstacle.isPresent()) {
            return obstacle;
        }
        String unknown = " the lock " + path + " is free; ";
        if (client.connection().state() != ConnectionState.CONNECTED) {
            String before = seen ? " any more (the lock was busy when it was last seen)" : "";
            return Optional.of(client.connection()
                    .missing(before + " after " + timeout + ", so it is not known whether" + unknown
                            + "try again when connected"));
        }
        return seen
                ? Optional.empty()
                : Optional.of(new LockConnectionException("no answer from ZooKeeper within " + timeout
                        + ", so it is not known whether" + unknown + "wait longer, or try again"));
    }

    // ---- Its holds.

    @Override
    public void confirm(Hold closed, boolean tells) {
        if (group.options().releasesInBackground()) {
            return;
        }
        CompletableFuture<Void> givenBack = closed.givenBack();
        if (!givenBack.isDone() && Blocking.mayBlock(client.scheduler())) {
            client.connection().awaitWhileConnected(givenBack);
        }
        if (tells) {
            Blocking.throwFailure(givenBack);
        }
    }

    @Override
    public EngineScheduler timers() {
        return client.scheduler();
    }

    @Override
    public void runClose(Runnable close) {
        close.run();
    }

    @Override
    public void verify(Hold hold) throws InterruptedException {
        Blocking.requireMayBlock(client.scheduler());
        Blocking.throwIfInterrupted();
        hold.requireOpenAndStanding();
        CompletableFuture<Code> answered = new CompletableFuture<>();
        client.requests().ask(path(), answered);
        client.scheduler().execute(() -> hold.grant().check(answered::complete));
        Code code = Blocking.await(answered, Deadline.after(client.requestTimeout(), client.scheduler()))
                .orElse(Code.OPERATIONTIMEOUT);
        hold.requireOpenAndStanding(); // closed meanwhile, the node may be there for another holder
        if (code != Code.OK) {
            throw new LockConnectionException("could not verify the lock " + path() + " (" + code
                    + "): it is not known whether it is held; treat it as not held, or verify again");
        }
    }

    @Override
    public void listen(Hold hold, Consumer<RevocationRequest> listener) {
        hold.listeners()
                .revocations(() -> new RevocationListeners(hold.grant(), hold::isStanding, client.callbacks()))
                .add(listener);
    }

    // ---- Asking.

    @Override
    public List<Participant> participants() throws InterruptedException {
        return seen(ParticipantQuery::ofAll, Deadline.after(client.requestTimeout(), client.scheduler())).stream()
                .map(ParticipantQuery.Seen::participant)
                .toList();
    }

    /** The holders, by the list, with the data of their nodes; no other node is read. */
    List<ParticipantQuery.Seen> holders(Deadline deadline) throws InterruptedException {
        return seen((all, spec) -> ParticipantQuery.ofHolders(all, spec, Integer.MAX_VALUE), deadline);
    }

    private List<ParticipantQuery.Seen> seen(BiFunction<Requests, LockSpec, ParticipantQuery> query, Deadline deadline)
            throws InterruptedException {
        List<ParticipantQuery.Seen> all = new ArrayList<>();
        for (LockSpec spec : group.all()) {
            all.addAll(query.apply(client.requests(), spec).request().await(client.requestTimeout(), deadline));
        }
        return all;
    }

    @Override
    public String toString() {
        return super.toString() + ", " + client;
    }
}
