// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.revoke;

import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

/** A {@link RevocationTask} as its requester sees it, to wait for and to end. Thread-safe. */
public final class PendingRevocation implements Revocation {
    private final Revocations revocations;
    private final Participant holder;
    private final RevocationTask task;
    private final CompletableFuture<RevocationOutcome> outcome;

    /** {@code seen} is what the holder's node held when it was looked at; empty if it was not read. */
    public PendingRevocation(
            Revocations revocations, Participant holder, Optional<Content> seen, RevocationRequest request) {
        this.revocations = revocations;
        this.holder = holder;
        this.task = new RevocationTask(revocations, holder, seen, request);
        this.outcome = Completion.copy(task.outcome(), revocations.callbacks()::run);
    }

    public void launch() {
        revocations.open().add(task);
        revocations.requireOpenFor().accept(task.lockPath()); // afterwards: a close ends those that have entered
        revocations.scheduler().execute(task::begin);
    }

    /** Completes, on the engine thread, when the node is marked or known to be gone. */
    public CompletableFuture<Boolean> asked() {
        return task.asked();
    }

    public String describe() {
        return task.nodePath();
    }

    @Override
    public Participant participant() {
        return holder;
    }

    @Override
    public CompletableFuture<RevocationOutcome> outcome() {
        return outcome;
    }

    @Override
    public Optional<RevocationOutcome> await(Duration timeout) throws InterruptedException {
        Blocking.requireNotNegative(timeout);
        Deadline deadline = Deadline.after(timeout, revocations.scheduler());
        Blocking.requireMayBlock(revocations.scheduler());
        Blocking.throwIfInterrupted();
        return Blocking.awaitAgain(task.outcome(), deadline);
    }

    @Override
    public void close() {
        task.outcome()
                .completeExceptionally(
                        new CancellationException("the request to give back " + describe() + " was closed"));
        revocations.scheduler().execute(task::leave);
    }
}
