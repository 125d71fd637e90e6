// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockObserver.Ending;
import dev.zkrecipes.core.internal.acquire.Acquisition;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.HeldNodes;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One request of a thread that waits for its outcome. Whatever is thrown meanwhile, nothing is left of it. */
final class BlockingRequest {
    private final EngineClient client;
    private final OwnedLock lock;
    private final Acquisition acquisition;
    private final @Nullable ObservedRequest observed;
    private @Nullable Hold opened;

    @FunctionalInterface
    interface Wait<T> {
        T on(BlockingRequest request) throws InterruptedException;
    }

    BlockingRequest(EngineClient client, OwnedLock lock, Acquisition acquisition, @Nullable ObservedRequest observed) {
        this.client = client;
        this.lock = lock;
        this.acquisition = acquisition;
        this.observed = observed;
    }

    <T> T run(Mode mode, Wait<T> wait) throws InterruptedException {
        try {
            acquisition.launch();
            lock.table().lookForDeadOwners();
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

    // ---- How to wait.

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
                Optional<LockException> unseen = unseen(client, lock.group().path(), Optional.of(acquisition), timeout);
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
                    + ", so it is not known whether the lock " + lock.path() + " is free; try again");
        }
        return Blocking.uninterruptibly(() -> Blocking.await(acquisition.outcome(), client.scheduler()))
                .map(this::hold);
    }

    private List<HeldNode> awaitGrant() throws InterruptedException {
        return Blocking.await(acquisition.outcome(), client.scheduler()).orElseThrow();
    }

    /** Why it is not known that the lock is busy, at the end of a wait; empty if it is. */
    static Optional<LockException> unseen(
            EngineClient client, String path, Optional<Acquisition> request, Duration timeout) {
        boolean seen = request.isEmpty() || request.get().wasSeenBusy();
        Optional<LockException> obstacle = request.flatMap(Acquisition::obstacle);
        if (obstacle.isPresent()) {
            return obstacle;
        }
        String unknown = " the lock " + path + " is free; ";
        if (client.connection().state() != ConnectionState.CONNECTED) {
            String before = seen ? " any more (the lock was busy when it was last seen)" : "";
            return Optional.of(client.connection().missing(before + " after " + timeout + ", so it is not known whether"
                    + unknown + "try again when connected"));
        }
        return seen
                ? Optional.empty()
                : Optional.of(new LockConnectionException("no answer from ZooKeeper within " + timeout
                        + ", so it is not known whether" + unknown + "wait longer, or try again"));
    }

    // ---- What becomes of a grant.

    private Lease hold(List<HeldNode> grants) {
        Hold hold = Hold.open(lock, grants, lock.mineToOpen(), observed);
        opened = hold;
        return hold;
    }

    /**
     * After an interruption nothing is acquired, unless the grant came first; then the flag tells of the interruption.
     */
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
            HeldNodes.release(granted);
        }
    }
}
