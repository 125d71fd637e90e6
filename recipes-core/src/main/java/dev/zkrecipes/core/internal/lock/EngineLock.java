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

/**
 * The blocking and the asynchronous API on top of {@link Acquisition}s. The holds of the calling thread are looked up
 * by path and rule in the table of the client, whichever lock object they were acquired through. Thread-safe.
 *
 * <p>A thread of the application may die in this class because stack or heap is exhausted. If anything is thrown
 * between the launch of a request and the return of its lease, the request leaves the queue, or its grant is released.
 * If even that fails, the client ends, because nobody else would request the deletion of the node.
 */
public final class EngineLock extends OwnedLock {
    // Maps a delegating lock to its delegate, and any other lock to itself.
    private static volatile UnaryOperator<InterProcessLock> unwrap = lock -> lock;

    private final EngineClient client;
    private final boolean isObserved; // false if a lock that is built on this one reports its own requests

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

    /**
     * Returns a lock on one path. {@code isObserved} is false if another lock is built on this one and reports requests
     * of its own.
     */
    public static EngineLock of(EngineClient client, LockSpec spec, Owner owner, boolean isObserved) {
        return new EngineLock(client, LockGroup.of(spec), owner, null, false, isObserved);
    }

    /**
     * Returns one of the two modes of a lock. A thread that holds the exclusive mode may also acquire the shared one.
     * The opposite is refused, because the thread would wait for itself.
     */
    public static EngineLock mode(EngineClient client, LockSpec spec, LockSpec other, boolean isExclusive) {
        return new EngineLock(client, LockGroup.of(spec), Owner.THREAD, other, isExclusive, true);
    }

    /**
     * Returns several locks as one. All members must belong to one client, because one {@code multi} in one session
     * creates all their nodes. Throws an {@link IllegalArgumentException} if the members cannot be acquired together.
     */
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

    /**
     * Called by the class of delegating locks when it is loaded, hence before any such lock exists. Only that class
     * can see what its locks delegate to.
     */
    public static void unwrapBy(UnaryOperator<InterProcessLock> delegateOf) {
        unwrap = delegateOf;
    }

    /**
     * Returns the engine's lock to which {@code lock} ultimately delegates; empty for a lock of another library, or of
     * several clients.
     */
    public static Optional<EngineLock> behind(InterProcessLock lock) {
        return unwrapped(lock) instanceof EngineLock engine ? Optional.of(engine) : Optional.empty();
    }

    /** Returns the client that the lock works on, if there is one and {@code lock} is not of another library. */
    public static Optional<EngineClient> clientOf(InterProcessLock lock) {
        return unwrapped(lock) instanceof OwnedLock owned ? Optional.ofNullable(owned.worksOn) : Optional.empty();
    }

    /** Returns how long the lock may be held; empty if there is no limit, or nothing is known of the lock. */
    public static Optional<Duration> holdAtMost(InterProcessLock lock) {
        return unwrapped(lock) instanceof OwnedLock owned ? owned.group.holdAtMost() : Optional.empty();
    }

    /** Returns the paths of the lock; none if nothing is known of the lock. */
    public static List<String> pathsOf(InterProcessLock lock) {
        return unwrapped(lock) instanceof OwnedLock owned ? owned.group.paths() : List.of();
    }

    /** Tries the lock, and waits for an answer no longer than {@code limit} if {@code lock} heeds that. */
    public static Optional<Lease> tryAtOnce(InterProcessLock lock, Duration limit) {
        return unwrapped(lock) instanceof OwnedLock owned ? owned.tryAtOnce(limit) : lock.tryAcquire();
    }

    private static InterProcessLock unwrapped(InterProcessLock lock) {
        InterProcessLock found = Objects.requireNonNull(lock, "lock");
        for (InterProcessLock inner = unwrap.apply(found); inner != found; inner = unwrap.apply(found)) {
            found = inner;
        }
        return found;
    }

    public EngineClient client() {
        return client;
    }

    public boolean isSingle() {
        return group.isSingle();
    }

    // ---- Acquiring.

    /**
     * Launches a request and waits for its outcome. A try waits only for the server's answer, and no longer than the
     * request time-out. If this throws, nothing is left of the request, or the client ends.
     */
    @Override
    Optional<Lease> request(Mode mode, @Nullable Duration most, boolean isInterruptible) throws InterruptedException {
        Duration timeout = client.requestTimeout();
        Duration limit = mode == Mode.TRY && (most == null || most.compareTo(timeout) > 0) ? timeout : most;
        Deadline deadline = limit == null ? null : Deadline.after(limit, client.scheduler());
        if (mode == Mode.QUEUE) { // a try waits for nobody, so it cannot wait for itself
            requireNoWaitForOneself();
        }
        HeldNode exclusive = toDowngrade();
        ObservedRequest observed = observe();
        Acquisition wanted = exclusive == null
                ? inQueue(mode, observed)
                : new Downgrade(client.requests(), group.all().get(0), exclusive, mode);
        Hold opened = null;
        try {
            Optional<Grant> granted = launch(wanted, deadline, isInterruptible);
            if (exclusive != null && granted.isEmpty()) { // another thread has closed the exclusive hold meanwhile
                wanted = inQueue(mode, observed);
                granted = launch(wanted, deadline, isInterruptible);
            }
            if (granted.isPresent()) {
                opened = Hold.open(this, granted.get(), mineToOpen(), observed);
            } else if (observed != null) {
                observed.over(mode == Mode.TRY ? Ending.BUSY : Ending.TIMED_OUT);
            }
            return Optional.ofNullable(opened);
        } catch (Throwable t) {
            try {
                leave(wanted, opened);
            } catch (Throwable again) { // the request may still be in the queue
                lastResort.thrown = again;
                lastResort.wakeEngine();
                throw again;
            }
            if (observed != null) {
                observed.failed(t);
            }
            throw t;
        }
    }

    /**
     * Returns a request that queues with a node of its own, and names in it what the calling thread holds. Has it
     * checked from time to time whether it waits for itself, if it may do so.
     */
    private AcquireLoop inQueue(Mode mode, @Nullable ObservedRequest observed) {
        List<String> holds = mode == Mode.QUEUE ? heldNodes() : List.of();
        AcquireLoop request = new AcquireLoop(client.requests(), group, mode, holds);
        if (mode == Mode.QUEUE && !(holds.isEmpty() && isSingle())) {
            client.watchForDeadlocks(request, observed);
        }
        return request;
    }

    private Optional<Grant> launch(Acquisition wanted, @Nullable Deadline deadline, boolean isInterruptible)
            throws InterruptedException {
        wanted.launch();
        return isInterruptible
                ? awaitOrLeave(wanted, deadline)
                : Blocking.uninterruptibly(() -> await(wanted, deadline));
    }

    /**
     * Withdraws a request whose caller gets an exception, or releases what was granted. Such a caller has no lease, so
     * nobody else would ever release it.
     */
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

    /**
     * Waits, and withdraws the request if the thread is interrupted. If the request was granted before that, the thread
     * has the lock, and its interrupt flag is set again.
     */
    private Optional<Grant> awaitOrLeave(Acquisition wanted, @Nullable Deadline deadline) throws InterruptedException {
        try {
            return await(wanted, deadline);
        } catch (InterruptedException e) {
            Grant granted = wanted.giveUpUnlessGranted();
            if (granted == null) {
                throw e;
            }
            Thread.currentThread().interrupt();
            return Optional.of(granted);
        }
    }

    /**
     * Waits for the outcome. Returns empty if the lock is busy, in a try or when the time has elapsed. Throws if the
     * time has elapsed and the lock is not known to be busy.
     */
    private Optional<Grant> await(Acquisition wanted, @Nullable Deadline deadline) throws InterruptedException {
        if (deadline != null && Blocking.await(wanted.outcome(), deadline).isEmpty()) {
            Optional<LockException> unseen = unseen(client, path(), Optional.of(wanted), deadline.timeout());
            if (wanted.giveUp()) {
                if (unseen.isPresent()) {
                    throw unseen.get();
                }
                return Optional.empty();
            }
        }
        // Either there is no deadline, or the request has an outcome. An outcome that came just before the request
        // could be given up counts.
        return Blocking.await(wanted.outcome(), client.scheduler());
    }

    /**
     * The lease will belong to no thread. So neither re-entry nor a downgrade can serve the request: it always
     * queues.
     */
    @Override
    public CompletableFuture<Lease> acquireAsync() {
        Acquisition acquisition = new AcquireLoop(client.requests(), group, Mode.QUEUE, List.of());
        // If another lock of this library is built on this one, the future may complete on the engine thread: such a
        // lock does not block there.
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

    /**
     * Returns, for a recipe whose wait has ended, why the lock is not known to be busy; empty if it is known to be
     * busy. {@code request} is a future of {@link #acquireAsync}; it is empty if the caller itself has seen the lock
     * busy. A request that has ended is treated like an empty one.
     */
    public static Optional<LockException> unseen(
            EngineClient client, LockSpec spec, Optional<CompletableFuture<Lease>> request, Duration waited) {
        Optional<Acquisition> asked =
                request.map(made -> made instanceof AsyncRequest async ? async.acquisition : null);
        return unseen(client, spec.path(), asked, waited);
    }

    /**
     * Returns why, at the end of a wait, the lock is not known to be busy; empty if it is known to be busy. A lock
     * counts as busy only if it was seen busy and there is still a connection, which would report a change.
     */
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

    // ---- Holds.

    /**
     * Waits until the server has deleted the nodes, so that the lock is free when the close returns, unless an option
     * says otherwise. Without a connection there is no wait, because the answer may take long.
     */
    @Override
    public void confirm(Hold closed, boolean tells) {
        confirm(closed, tells, null);
    }

    @Override
    void confirm(Hold closed, boolean tells, @Nullable Deadline by) {
        if (group.options().releasesInBackground()) {
            return;
        }
        awaitGone(client, closed, by);
        if (tells) {
            Blocking.throwRefusal(closed.givenBack());
        }
    }

    @Override
    public EngineScheduler timers() {
        return client.scheduler();
    }

    /** Closes on the calling thread, which may be the engine's: closing a hold of the engine never blocks. */
    @Override
    public void runClose(Runnable close) {
        close.run();
    }

    /**
     * Asks the server, by a committed check, whether the nodes exist. Throws if there is no answer in time, because
     * then it is not known whether the lock is held.
     */
    @Override
    public void verify(Hold hold) throws InterruptedException {
        endVerifying(hold, beginVerifying(hold), client.requestDeadline());
    }

    /** Sends the check. The future completes with the answer. */
    CompletableFuture<Code> beginVerifying(Hold hold) throws InterruptedException {
        Blocking.requireMayBlock(client.scheduler());
        Blocking.throwIfInterrupted();
        hold.requireOpenAndStanding();
        CompletableFuture<Code> answered = new CompletableFuture<>();
        client.requests().ask(path(), answered);
        client.scheduler().execute(() -> hold.grant().check(answered::complete));
        return answered;
    }

    /** Waits for the answer, and throws unless the lock is held. */
    void endVerifying(Hold hold, CompletableFuture<Code> answered, Deadline by) throws InterruptedException {
        Code code = Blocking.await(answered, by).orElse(Code.OPERATIONTIMEOUT);
        hold.requireOpenAndStanding(); // once this hold is closed, its nodes may back another one
        if (code != Code.OK) {
            throw new LockConnectionException("could not verify the lock " + path() + " (" + code
                    + "): it is not known whether it is held; treat it as not held, or verify again");
        }
    }

    /** Adds a listener. The listeners of one hold share the watches of its nodes. */
    @Override
    public void listen(Hold hold, Consumer<RevocationRequest> listener) {
        hold.listeners()
                .revocations(() -> new RevocationListeners(hold.grant(), hold::isStanding, client.callbacks()))
                .add(listener);
    }

    // ---- Queries.

    @Override
    public List<Participant> participants() throws InterruptedException {
        return seen(ParticipantQuery::ofAll, client.requestDeadline()).stream()
                .map(ParticipantQuery.Seen::participant)
                .toList();
    }

    /** Returns the holders, with the data of their nodes. The list shows who holds, so no other node is read. */
    List<ParticipantQuery.Seen> holders(Deadline deadline) throws InterruptedException {
        return seen((all, spec) -> ParticipantQuery.ofHolders(all, spec, Integer.MAX_VALUE), deadline);
    }

    /** Queries one path after another, all within one deadline. */
    private List<ParticipantQuery.Seen> seen(BiFunction<Requests, LockSpec, ParticipantQuery> query, Deadline deadline)
            throws InterruptedException {
        List<ParticipantQuery.Seen> all = new ArrayList<>();
        for (LockSpec spec : group.all()) {
            all.addAll(query.apply(client.requests(), spec).request().await(deadline));
        }
        return all;
    }

    @Override
    public String toString() {
        return super.toString() + ", " + client;
    }
}
