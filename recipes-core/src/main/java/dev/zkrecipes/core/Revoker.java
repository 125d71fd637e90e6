// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.lock.RevocationRequests;
import dev.zkrecipes.core.internal.thread.Blocking;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Asks holders to give a lock back, from any process.
 *
 * <pre>{@code
 * Revoker revoker = new Revoker(client).withGrace(Duration.ofSeconds(10));
 * for (Revocation revocation : revoker.request(mutex)) {
 *     report(
 *             revocation.participant().owner(),
 *             revocation.await(Duration.ofMinutes(1)).orElseThrow());
 * }
 * }</pre>
 *
 * <p><b>How.</b> The request is a mark in the data of the holder's node, beside its owner label, written with the
 * version that was read. The holder finds it whenever it reads its node: {@link Lease#onRevocationRequested}. A node
 * keeps the last 8 requests. On nodes of Apache Curator this class writes what Curator's own {@code Revoker} writes,
 * {@code __REVOKE__}. That reaches holders that were made revocable, and it replaces the data of their nodes.
 *
 * <p><b>Who is asked.</b> The current holders of the lock; a client that gets it later is not asked. A thread that has
 * downgraded from the write lock to the read lock holds both, with a node for each. You can also ask a waiting
 * {@link Participant}: it is told once it holds the lock and listens. After a semaphore has been resized to fewer
 * permits, nothing at the server distinguishes its holders from the requests that were waiting at that time: every
 * request is asked that came before the resize and for which the earlier limit had room.
 *
 * <p><b>Grace.</b> A holder need not listen or obey. {@linkplain #withGrace With a grace period}, this client deletes
 * the holder's node that long after the request was written, if this process still runs. The holder finds out as with
 * any lost lock: at once if it listens for requests, otherwise within T/6 (T being its session's time-out). Until then
 * it may continue to work, so where that would do harm use {@link Lease#fencingToken()} or {@link Lease#guard()}.
 *
 * <p><b>Rights.</b> Asking needs READ and WRITE on the holder's node, breaking DELETE on the lock's path.
 *
 * <p>The methods wait until the requests are written, at most for the request time-out in all (for a lock of another
 * library, or a multi-lock of several clients, not counting the time it takes to list the participants). Instances are
 * thread-safe and hold nothing.
 */
public final class Revoker {
    private final EngineClient client;
    private final Optional<Duration> grace;

    /**
     * Creates a revoker that only asks and never breaks a lease. Sends nothing.
     *
     * @param client the client that asks
     */
    public Revoker(ZooKeeperClient client) {
        this(EngineClient.of(client), Optional.empty());
    }

    private Revoker(EngineClient client, Optional<Duration> grace) {
        this.client = client;
        this.grace = grace;
    }

    /**
     * {@return a revoker that breaks leases that are not given back within a grace period}
     *
     * @param period how long holders have, from the time at which the request is written
     * @throws IllegalArgumentException if {@code period} is negative
     */
    public Revoker withGrace(Duration period) {
        Blocking.requireNotNegative(Objects.requireNonNull(period, "period"));
        return new Revoker(client, Optional.of(period));
    }

    /**
     * Asks all holders of a lock.
     *
     * @param lock a lock on the path in question, of the same ensemble and chroot as this client; for a read-write lock
     *     any mode, for a semaphore {@code permits(1)}
     * @return a revocation for each node of a holder; empty if the lock is free
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; some may have been asked
     * @throws LockConnectionException if there was no answer in time: some may have been asked, so ask again
     * @throws LockException if ZooKeeper or the lock's driver refuses, or the client is closed
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    public List<Revocation> request(InterProcessLock lock) throws InterruptedException {
        return new RevocationRequests(client).ask(Objects.requireNonNull(lock, "lock"), grace);
    }

    /**
     * Asks one participant. If there is a grace period and the participant is still in the queue when it has elapsed,
     * its node is deleted, whether it holds the lock or waits.
     *
     * @param holder whom to ask, as {@link InterProcessLock#participants()} found it
     * @return the revocation, through which the request can be followed
     * @throws InterruptedException as {@link #request(InterProcessLock)}
     * @throws LockException as {@link #request(InterProcessLock)}
     */
    public Revocation request(Participant holder) throws InterruptedException {
        return new RevocationRequests(client)
                .ask(List.of(Objects.requireNonNull(holder, "holder")), grace)
                .get(0);
    }
}
