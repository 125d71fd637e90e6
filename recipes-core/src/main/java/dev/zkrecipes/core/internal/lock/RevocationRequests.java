// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.ask.ParticipantQuery;
import dev.zkrecipes.core.internal.ask.RevocationTask;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.wire.NodeId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Asks holders to give a lock back, for {@link dev.zkrecipes.core.Revoker}. The calling thread waits until each holder
 * has been asked or is gone. Each {@link RevocationTask} does the rest on the engine thread, such as breaking a lease
 * after its grace. Thread-safe.
 */
public final class RevocationRequests {
    private final EngineClient client;

    public RevocationRequests(EngineClient client) {
        this.client = client;
    }

    /** Asks all holders of the lock. */
    public List<Revocation> ask(InterProcessLock lock, Optional<Duration> grace) throws InterruptedException {
        Deadline deadline = enter(lock.path());
        return ask(holders(lock, deadline), grace, deadline);
    }

    /**
     * Asks these participants, of which there is at least one. The data of their nodes are not known, so each task
     * begins with a read.
     */
    public List<Revocation> ask(List<Participant> holders, Optional<Duration> grace) throws InterruptedException {
        Deadline deadline = enter(holders.get(0).path());
        return ask(holders.stream().map(RevocationRequests::unread).toList(), grace, deadline);
    }

    private static ParticipantQuery.Seen unread(Participant participant) {
        return new ParticipantQuery.Seen(participant, Optional.empty());
    }

    /**
     * Returns the deadline for the whole call. Throws if the calling thread may not block or was interrupted, or if the
     * client is closed.
     */
    private Deadline enter(String lockPath) throws InterruptedException {
        Blocking.requireMayBlock(client.scheduler());
        Blocking.throwIfInterrupted();
        client.requests().requireOpen(lockPath);
        return client.requestDeadline();
    }

    /**
     * Returns the holders of the lock. A lock of another library, or of several clients, shows only its participants,
     * of which this returns those that hold.
     */
    private static List<ParticipantQuery.Seen> holders(InterProcessLock lock, Deadline deadline)
            throws InterruptedException {
        Optional<EngineLock> engine = EngineLock.behind(lock);
        return engine.isPresent()
                ? engine.get().holders(deadline)
                : lock.participants().stream()
                        .filter(Participant::holding)
                        .map(RevocationRequests::unread)
                        .toList();
    }

    /**
     * Launches all tasks before it waits for the first. All nodes get a request with the same id, so that a holder of
     * several of them is notified once.
     */
    private List<Revocation> ask(List<ParticipantQuery.Seen> holders, Optional<Duration> grace, Deadline deadline)
            throws InterruptedException {
        RevocationRequest request =
                new RevocationRequest(NodeId.next(client.scheduler().random()), client.ownerLabel(), grace);
        List<RevocationTask> pending = holders.stream()
                .map(holder -> new RevocationTask(
                        client.requests(), client.callbacks(), holder.participant(), holder.content(), request))
                .toList();
        try {
            pending.forEach(RevocationTask::launch);
            for (RevocationTask each : pending) {
                if (Blocking.await(each.asked(), deadline).isEmpty()) {
                    throw new LockConnectionException("no answer from ZooKeeper within " + deadline.timeout()
                            + " to the request to give back "
                            + each.nodePath() + ": it is not known whether its holder was asked; ask again");
                }
            }
            return List.copyOf(pending);
        } catch (Throwable t) { // the caller gets nothing that it could close, so no lease must be broken later
            pending.forEach(RevocationTask::close);
            throw t;
        }
    }
}
