// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.client.RevocationRequests;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Asks holders to give a lock back, from any process.
 *
 * <pre>{@code
 * for (Revocation revocation : new Revoker(client).request(mutex, Duration.ofSeconds(10))) {
 *     report(
 *             revocation.participant().owner(),
 *             revocation.await(Duration.ofMinutes(1)).orElseThrow());
 * }
 * }</pre>
 *
 * <p><b>How.</b> The request is a mark in the data of the holder's node, beside its owner label, written with the
 * version that was read. The holder finds it whenever it looks: {@link Lease#onRevocationRequested}. A node keeps
 * several requests, the last 8 of them. On nodes of Apache Curator this class writes what Curator's own {@code Revoker}
 * writes, {@code __REVOKE__}. That reaches holders that were made revocable, and it replaces their data.
 *
 * <p><b>Who is asked.</b> The current holders of the lock; a client that gets it later is not asked. A thread that has
 * downgraded from the write lock to the read lock holds both, with a node for each. You can also ask a waiting {@link
 * Participant}: it is told when it holds the lock and listens. After a semaphore was resized to fewer permits, nothing
 * at the server tells its holders from the requests that waited then: every request is asked that came before the
 * resize and that the earlier limit had room for.
 *
 * <p><b>Grace.</b> A holder need not listen or obey. With a grace period, this client deletes the holder's node when
 * that time has passed since the request was written: the lease is broken, and the next request in the queue is
 * granted. The holder finds out as with any lost lock: at once if it listens for requests, otherwise within T/6 (T
 * being its session's time-out). Until then it may continue to work, so where that would do harm use {@link
 * Lease#fencingToken()} or {@link Lease#guard()}. A process that ends within its grace period breaks nothing.
 *
 * <p><b>Rights.</b> Asking needs READ and WRITE on the holder's node, breaking DELETE on the lock's path.
 *
 * <p>The methods wait until the requests are written, at most for the request time-out in all (for a lock of another
 * library, or a multi-lock of several clients, not counting the time it takes to list the participants). Instances are
 * thread-safe and hold nothing.
 */
public final class Revoker {
    private final RevocationRequests requests;

    /**
     * Makes a revoker; sends nothing.
     *
     * @param client the client that asks
     */
    public Revoker(ZooKeeperClient client) {
        this.requests = new RevocationRequests(EngineClient.of(Objects.requireNonNull(client, "client")));
    }

    /**
     * Asks all holders of a lock, and breaks nothing.
     *
     * @param lock a lock on the path in question, of the same ensemble and chroot as this client; of a read-write lock
     *     any mode, of a semaphore {@code permits(1)}
     * @return a revocation for each node of a holder; empty if the lock is free
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; some may have been asked
     * @throws LockConnectionException if there was no answer in time: some may have been asked, ask again
     * @throws LockAccessException if ZooKeeper refuses for want of rights
     * @throws LockException if ZooKeeper or the lock's driver refuses
     * @throws ClientClosedException if the client is closed, before or meanwhile
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    public List<Revocation> request(InterProcessLock lock) throws InterruptedException {
        return requests.ask(lock, Optional.empty());
    }

    /**
     * Asks all holders of a lock, and breaks the leases that are not released within the grace period.
     *
     * @param lock as for {@link #request(InterProcessLock)}
     * @param grace how long the holders have, from when the request is written
     * @return as {@link #request(InterProcessLock)}
     * @throws IllegalArgumentException if {@code grace} is negative
     * @throws InterruptedException as {@link #request(InterProcessLock)}
     * @throws LockException as {@link #request(InterProcessLock)}
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    public List<Revocation> request(InterProcessLock lock, Duration grace) throws InterruptedException {
        return requests.ask(lock, Optional.of(grace));
    }

    /**
     * Asks one participant, and breaks nothing.
     *
     * @param holder whom to ask, as {@link InterProcessLock#participants()} found it
     * @return the revocation, to be followed
     * @throws InterruptedException as {@link #request(InterProcessLock)}
     * @throws LockException as {@link #request(InterProcessLock)}
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    public Revocation request(Participant holder) throws InterruptedException {
        return requests.ask(List.of(holder), Optional.empty()).get(0);
    }

    /**
     * Asks one participant. Breaks its lease, or removes its node from the queue, if the node is still there when the
     * grace period is over.
     *
     * @param holder whom to ask, as {@link InterProcessLock#participants()} found it
     * @param grace how long it has, from when the request is written
     * @return the revocation, to be followed
     * @throws IllegalArgumentException if {@code grace} is negative
     * @throws InterruptedException as {@link #request(InterProcessLock)}
     * @throws LockException as {@link #request(InterProcessLock)}
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    public Revocation request(Participant holder, Duration grace) throws InterruptedException {
        return requests.ask(List.of(holder), Optional.of(grace)).get(0);
    }
}
