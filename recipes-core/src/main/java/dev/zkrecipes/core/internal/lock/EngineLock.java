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
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.revoke.RevocationListeners;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Deadline;
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
 * The blocking and the asynchronous API on top of acquisitions. The holds of the calling thread are found by path and
 * rule in the client's {@link LockDataTable}, whatever lock object they were acquired through. Thread-safe.
 */
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

    /** Several locks as one, held by threads, re-entrantly. An IllegalArgumentException says why they cannot be. */
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
        return group().isSingle();
    }

    // ---- Acquiring.

    @Override
    Lease request() throws InterruptedException {
        return request(Mode.QUEUE, BlockingRequest::await);
    }

    @Override
    Optional<Lease> request(Duration timeout) throws InterruptedException {
        Deadline deadline = Deadline.after(timeout, client.scheduler());
        return request(Mode.QUEUE, request -> request.await(deadline, timeout));
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return tryAtOnce(client.requestTimeout());
    }

    /** Acquires it if it is free, and waits for the answer no longer than the limit or the request time-out. */
    public Optional<Lease> tryAtOnce(Duration limit) {
        Duration atMost = limit.compareTo(client.requestTimeout()) < 0 ? limit : client.requestTimeout();
        requireMayBlock();
        Lease again = reenter();
        if (again != null) {
            return Optional.of(again);
        }
        Deadline deadline = Deadline.after(atMost, client.scheduler());
        return requestUninterruptibly(Mode.TRY, request -> request.awaitAnswer(deadline, atMost));
    }

    @Override
    Lease requestUninterruptibly() {
        return requestUninterruptibly(Mode.QUEUE, BlockingRequest::awaitUninterruptibly);
    }

    private <T> T request(Mode mode, Wait<T> wait) throws InterruptedException {
        if (mode == Mode.QUEUE) {
            requireNoWaitForOneself();
        }
        HeldNode exclusive = toDowngrade();
        Acquisition acquisition = exclusive == null
                ? new AcquireLoop(client.requests, group(), mode)
                : new Downgrade(client.requests, group().all().get(0), exclusive, mode);
        return new BlockingRequest(acquisition, observed()).run(mode, wait);
    }

    private @Nullable ObservedRequest observed() {
        return isObserved ? client.observe(group()) : null;
    }

    private <T> T requestUninterruptibly(Mode mode, Wait<T> wait) {
        try {
            return request(mode, wait);
        } catch (InterruptedException e) {
            throw new AssertionError("an interruption ended a wait that it must not end", e);
        }
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        Acquisition acquisition = new AcquireLoop(client.requests, group(), Mode.QUEUE);
        Executor delivery = isObserved ? client.callbacks()::run : Runnable::run;
        ObservedRequest observed = observed();
        AsyncRequest request = new AsyncRequest(this, delivery, observed, acquisition);
        request.follow(
                acquisition.outcome(),
                granted -> Hold.open(this, granted.orElseThrow(), asynchronous(), observed),
                acquisition::giveUp);
        acquisition.launch();
        table().lookForDeadOwners();
        return request;
    }

    /**
     * Why it is not known that the lock is busy. The request is what {@link #acquireAsync} has returned; empty if the
     * lock was seen to be busy otherwise.
     */
    public static Optional<LockException> unseen(
            EngineClient client, LockSpec spec, Optional<CompletableFuture<Lease>> request, Duration waited) {
        Optional<Acquisition> asked =
                request.map(made -> made instanceof AsyncRequest async ? async.acquisition() : null);
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

    // ---- Waiting.

    @FunctionalInterface
    private interface Wait<T> {
        T on(BlockingRequest request) throws InterruptedException;
    }

    /** One request of a thread that waits for its outcome. Whatever is thrown meanwhile, nothing is left of it. */
    private final class BlockingRequest {
        private final Acquisition acquisition;
        private final @Nullable ObservedRequest observed;
        private @Nullable Hold opened;

        BlockingRequest(Acquisition acquisition, @Nullable ObservedRequest observed) {
            this.acquisition = acquisition;
            this.observed = observed;
        }

        <T> T run(Mode mode, Wait<T> wait) throws InterruptedException {
            try {
                acquisition.launch();
                table().lookForDeadOwners();
                T outcome = wait.on(this);
                if (observed != null) {
                    observed.over(mode == Mode.TRY ? Ending.BUSY : Ending.TIMED_OUT); // unless it was granted
                }
                return outcome;
            } catch (Throwable t) {
                abandon();
                if (observed != null) {
                    observed.failed(t);
                }
                throw t;
            }
        }

        Lease await() throws InterruptedException {
            try {
                return hold(awaitGrant());
            } catch (InterruptedException e) {
                return leaveOrHold(e);
            }
        }

        Lease awaitUninterruptibly() {
            return hold(Blocking.uninterruptibly(this::awaitGrant));
        }

        /** Waits for a limited time; empty if the lock is busy then. */
        Optional<Lease> await(Deadline deadline, Duration timeout) throws InterruptedException {
            try {
                if (Blocking.await(acquisition.outcome(), deadline).isEmpty()) {
                    Optional<LockException> unseen = unseen(client, path(), Optional.of(acquisition), timeout);
                    if (acquisition.giveUp()) {
                        if (unseen.isPresent()) {
                            throw unseen.get();
                        }
                        return Optional.empty();
                    }
                }
                return Optional.of(hold(awaitGrant()));
            } catch (InterruptedException e) {
                return Optional.of(leaveOrHold(e));
            }
        }

        /** Waits for the answer to a try; empty if the lock is busy. Interruptions do not end the wait. */
        Optional<Lease> awaitAnswer(Deadline deadline, Duration atMost) {
            Optional<Optional<List<HeldNode>>> outcome =
                    Blocking.uninterruptibly(() -> Blocking.await(acquisition.outcome(), deadline));
            if (outcome.isEmpty() && acquisition.giveUp()) {
                throw new LockConnectionException("no answer from ZooKeeper within " + atMost
                        + ", so it is not known whether the lock " + path() + " is free; try again");
            }
            return Blocking.uninterruptibly(() -> Blocking.await(acquisition.outcome(), client.scheduler()))
                    .map(this::hold);
        }

        private List<HeldNode> awaitGrant() throws InterruptedException {
            return Blocking.await(acquisition.outcome(), client.scheduler()).orElseThrow();
        }

        private Lease hold(List<HeldNode> grants) {
            Hold hold = Hold.open(EngineLock.this, grants, mineToOpen(), observed);
            opened = hold;
            return hold;
        }

        /** Nothing is acquired unless the grant came first; in that case the interrupt flag is set again. */
        private Lease leaveOrHold(InterruptedException interruption) throws InterruptedException {
            List<HeldNode> granted = acquisition.giveUpUnlessGranted();
            if (granted == null) {
                throw interruption;
            }
            Thread.currentThread().interrupt();
            return hold(granted);
        }

        /** The caller gets an exception, so it must not be left with anything that nobody would ever give back. */
        private void abandon() {
            List<HeldNode> granted = acquisition.giveUpUnlessGranted();
            if (opened != null) {
                opened.beginClosing(false);
            } else if (granted != null) {
                HeldNode.release(granted);
            }
        }
    }

    // ---- Its holds.

    @Override
    public void confirm(Hold closed, boolean tells) {
        if (group().options().releasesInBackground()) {
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
    public void verify(Hold hold) throws InterruptedException {
        Blocking.requireMayBlock(client.scheduler());
        Blocking.throwIfInterrupted();
        hold.requireOpenAndStanding();
        CompletableFuture<Code> answered = new CompletableFuture<>();
        client.requests.ask(path(), answered);
        List<HeldNode> nodes = HeldNode.nodes(hold.grants());
        client.scheduler().execute(() -> HeldNode.check(nodes, answered::complete));
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
                .revocations(() ->
                        new RevocationListeners(HeldNode.nodes(hold.grants()), hold::isStanding, client.callbacks()))
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
        for (LockSpec spec : group().all()) {
            all.addAll(new PathQueries(client, spec)
                    .await(query.apply(client.requests, spec).request(), deadline));
        }
        return all;
    }

    @Override
    public String toString() {
        return super.toString() + ", " + client;
    }
}
