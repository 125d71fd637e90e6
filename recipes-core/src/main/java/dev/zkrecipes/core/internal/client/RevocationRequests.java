// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.lock.EngineLock;
import dev.zkrecipes.core.internal.revoke.PendingRevocation;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.spi.DelegatingLock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The thin wait of {@link dev.zkrecipes.core.Revoker} over {@link PendingRevocation}s. Thread-safe. */
public final class RevocationRequests {
    private final EngineClient client;

    public RevocationRequests(EngineClient client) {
        this.client = client;
    }

    /** Asks all who hold the lock. */
    public List<Revocation> ask(InterProcessLock lock, Optional<Duration> grace) throws InterruptedException {
        Deadline deadline = enter(lock.path(), grace);
        List<Participant> holders = participants(lock, deadline).stream()
                .filter(Participant::holding)
                .toList();
        return ask(holders, grace, deadline);
    }

    /** Asks these participants. */
    public List<Revocation> ask(List<Participant> holders, Optional<Duration> grace) throws InterruptedException {
        return ask(holders, grace, enter(holders.get(0).path(), grace));
    }

    private Deadline enter(String lockPath, Optional<Duration> grace) throws InterruptedException {
        grace.ifPresent(Blocking::requireNotNegative);
        Blocking.requireMayBlock(client.scheduler());
        Blocking.throwIfInterrupted();
        client.requireOpenFor(lockPath);
        return Deadline.after(client.requestTimeout(), client.scheduler());
    }

    private static List<Participant> participants(InterProcessLock lock, Deadline deadline)
            throws InterruptedException {
        InterProcessLock found = lock;
        while (found instanceof DelegatingLock delegating) {
            found = delegating.delegate();
        }
        return found instanceof EngineLock engine ? engine.participants(deadline) : found.participants();
    }

    private List<Revocation> ask(List<Participant> holders, Optional<Duration> grace, Deadline deadline)
            throws InterruptedException {
        RevocationRequest request =
                new RevocationRequest(NodeId.next(client.scheduler().random()), client.ownerLabel(), grace);
        List<PendingRevocation> pursuits = holders.stream()
                .map(holder -> new PendingRevocation(client.revocations(), holder, request))
                .toList();
        boolean allAsked = false;
        try {
            pursuits.forEach(PendingRevocation::launch);
            for (PendingRevocation pursuit : pursuits) {
                if (Blocking.await(pursuit.asked(), deadline).isEmpty()) {
                    throw new LockConnectionException("no answer from ZooKeeper within " + client.requestTimeout()
                            + " to the request to give back "
                            + pursuit.describe() + ": it is not known whether its holder was asked; ask again");
                }
            }
            allAsked = true;
            return List.copyOf(pursuits);
        } finally {
            if (!allAsked) {
                pursuits.forEach(PendingRevocation::close);
            }
        }
    }
}
