// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockSnapshot;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A counting semaphore that processes share: at any time, at most a limited number of permits is held.
 *
 * <pre>{@code
 * InterProcessSemaphore imports = new InterProcessSemaphore(client, "/semaphores/imports", 10);
 * try (Lease lease = imports.acquire(3)) {
 *     importInThreeThreads();
 * }
 * }</pre>
 *
 * <p><b>Fairness:</b> strictly first come, first served, in the order in which ZooKeeper numbers the requests, even for
 * requests of different sizes: a small request does not overtake a waiting large one, so the large one is not starved.
 * All permits of a request are one node and one decision: two requests for all permits never take half each and block
 * each other.
 *
 * <p><b>Ownership:</b> a lease belongs to no thread. Any thread may close it, and an acquire is never re-entrant: each
 * takes new permits. <b>Session loss:</b> if a process dies or loses its session, its leases are lost, and its permits
 * are free for others when the session ends. The process may acquire again at once. See {@link Lease}.
 *
 * <p><b>The limit</b> is kept in ZooKeeper, as data of the semaphore's node, so that all processes decide by the same
 * limit. The first user creates the node with its configured number. A process that is configured with another number
 * is refused with {@link dev.zkrecipes.core.LockRefusedException}, which names both. {@link #resize} changes the limit
 * in force for all processes, but not the configured number. The node stays when the semaphore is not in use.
 *
 * <p><b>Fencing:</b> holders of permits have different tokens in no meaningful order, unless the limit is 1.
 *
 * <p>Instances are thread-safe.
 */
public final class InterProcessSemaphore {
    /** How many request sizes have a cached lock object. Other sizes get a new one when they need it. */
    private static final int SIZES = 100;

    private final ZooKeeperClient client;
    private final String given;
    private final String path; // with the client's namespace
    private final int maxLeases;
    private final LockOptions options;
    private final LockInternals internals;
    private final Cache<Integer, InterProcessLock> bySize;

    /**
     * Creates a semaphore on a path. Sends nothing.
     *
     * @param client the client to use
     * @param path absolute path of the semaphore, below the client's chroot; created on first use
     * @param maxLeases how many permits there are, unless the semaphore was resized; the same in all processes
     * @throws IllegalArgumentException if the path is not a valid absolute path, or {@code maxLeases} is less than 1
     */
    public InterProcessSemaphore(ZooKeeperClient client, String path, int maxLeases) {
        this(client, path, maxLeases, LockOptions.defaults());
    }

    /**
     * Creates a semaphore on a path. Sends nothing.
     *
     * @param client the client to use
     * @param path absolute path of the semaphore, below the client's chroot; created on first use
     * @param maxLeases how many permits there are, unless the semaphore was resized; the same in all processes
     * @param options optional settings
     * @throws IllegalArgumentException if the path is not a valid absolute path, or {@code maxLeases} is less than 1
     */
    public InterProcessSemaphore(ZooKeeperClient client, String path, int maxLeases, LockOptions options) {
        this.client = client;
        this.given = path;
        this.maxLeases = Permits.checkLimit(path, maxLeases);
        this.options = options;
        this.path = new LockInternals(client, path, driver(path, 1), options).path();
        this.internals = internals(1);
        this.bySize = CacheBuilder.newBuilder().maximumSize(SIZES).build();
    }

    private LockInternals internals(int permits) {
        return new LockInternals(client, given, driver(path, permits), options);
    }

    private SemaphoreDriver driver(String at, int permits) {
        return new SemaphoreDriver(at, SemaphoreLimit.of(maxLeases), permits);
    }

    /**
     * Returns the path of the semaphore, below the chroot if there is one, and with the client's namespace.
     *
     * @return the absolute path
     */
    public String path() {
        return path;
    }

    /**
     * Returns the given number of permits as a lock, for code that expects a lock, or as a member of a multi-lock. Its
     * acquires are those of {@link #acquire(int)}: not re-entrant, each takes permits of its own. Any thread may close
     * its leases, and {@link InterProcessLock#release()} on any thread closes the youngest lease.
     *
     * @param permits how many, at least 1
     * @return a new lock with holds of its own
     * @throws IllegalArgumentException if {@code permits} is less than 1
     */
    public InterProcessLock permits(int permits) {
        return internals(Permits.check(permits)).unowned();
    }

    /**
     * Acquires one permit, waiting for as long as it takes. Ends as {@link InterProcessLock#acquire()}.
     *
     * @return the lease
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; nothing is acquired and the
     *     flag is cleared
     * @throws dev.zkrecipes.core.LockException if the request is refused; see the subclasses
     */
    public Lease acquire() throws InterruptedException {
        return acquire(1);
    }

    /**
     * Acquires permits, all together, waiting for as long as it takes. Ends as {@link InterProcessLock#acquire()}.
     *
     * @param permits how many, at least 1
     * @return the lease of all of them
     * @throws IllegalArgumentException if {@code permits} is less than 1
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; nothing is acquired and the
     *     flag is cleared
     * @throws dev.zkrecipes.core.LockRefusedException at once, if {@code permits} exceeds the limit or the semaphore is
     *     configured with another limit; or later, if it is resized below {@code permits} while the request waits
     * @throws dev.zkrecipes.core.LockException if the request is refused; see the subclasses
     */
    public Lease acquire(int permits) throws InterruptedException {
        return lock(permits).acquire();
    }

    /**
     * Acquires one permit if that is possible without waiting. See {@link InterProcessLock#tryAcquire()}.
     *
     * @return the lease, or empty if no permit is free or others wait
     * @throws dev.zkrecipes.core.LockException if the request is refused; see the subclasses
     */
    public Optional<Lease> tryAcquire() {
        return tryAcquire(1);
    }

    /**
     * Acquires permits, all together, if that is possible without waiting. See {@link InterProcessLock#tryAcquire()}.
     *
     * @param permits how many, at least 1
     * @return the lease, or empty if so many are not free or others wait
     * @throws IllegalArgumentException if {@code permits} is less than 1
     * @throws dev.zkrecipes.core.LockException if the request is refused; see the subclasses
     */
    public Optional<Lease> tryAcquire(int permits) {
        return lock(permits).tryAcquire();
    }

    /**
     * Acquires one permit, waiting no longer than {@code timeout}. See {@link InterProcessLock#tryAcquire(Duration)}.
     *
     * @param timeout how long to wait at most; zero means not to wait
     * @return the lease, or empty if the time ran out and the permits were seen to be taken
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws dev.zkrecipes.core.LockException if the request is refused; see the subclasses
     */
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        return tryAcquire(1, timeout);
    }

    /**
     * Acquires permits, all together, waiting no longer than {@code timeout}. See
     * {@link InterProcessLock#tryAcquire(Duration)}.
     *
     * @param permits how many, at least 1
     * @param timeout how long to wait at most; zero means not to wait
     * @return the lease, or empty if the time ran out and the permits were seen to be taken
     * @throws IllegalArgumentException if {@code permits} is less than 1 or {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws dev.zkrecipes.core.LockException if the request is refused; see the subclasses
     */
    public Optional<Lease> tryAcquire(int permits, Duration timeout) throws InterruptedException {
        return lock(permits).tryAcquire(timeout);
    }

    /**
     * Requests one permit and returns at once. See {@link InterProcessLock#acquireAsync()}.
     *
     * @return the future lease; cancelling it leaves the queue
     */
    public CompletableFuture<Lease> acquireAsync() {
        return acquireAsync(1);
    }

    /**
     * Requests permits, all together, and returns at once. See {@link InterProcessLock#acquireAsync()}.
     *
     * @param permits how many, at least 1
     * @return the future lease; cancelling it leaves the queue
     * @throws IllegalArgumentException if {@code permits} is less than 1
     */
    public CompletableFuture<Lease> acquireAsync(int permits) {
        return lock(permits).acquireAsync();
    }

    private InterProcessLock lock(int permits) {
        InterProcessLock known = bySize.getIfPresent(Permits.check(permits));
        if (known != null) {
            return known;
        }
        InterProcessLock made = permits(permits);
        InterProcessLock first = bySize.asMap().putIfAbsent(permits, made);
        return first == null ? made : first;
    }

    /**
     * Returns the limit in force, as one read of the server shows it: the configured number, or the number that the
     * semaphore was resized to.
     *
     * @return the limit
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws dev.zkrecipes.core.LockRefusedException if the semaphore is configured otherwise
     * @throws dev.zkrecipes.core.LockException if there is no answer, or ZooKeeper refuses; see the subclasses
     */
    public int maxLeases() throws InterruptedException {
        return limit(internals.snapshot());
    }

    /**
     * Returns the number of free permits, as one read of the server shows it. If other requests wait, a new request
     * does not get these permits.
     *
     * @return the number, not negative; too large after a resize to fewer, see {@link #resize}
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws dev.zkrecipes.core.LockRefusedException if the semaphore is configured otherwise
     * @throws dev.zkrecipes.core.LockException if there is no answer, or ZooKeeper refuses; see the subclasses
     */
    public int availablePermits() throws InterruptedException {
        LockSnapshot snapshot = internals.snapshot();
        long held = snapshot.places().stream()
                .filter(LockSnapshot.Place::holding)
                .mapToLong(place -> SemaphoreDriver.permits(place.node()))
                .sum();
        return (int) Math.max(0, limit(snapshot) - held);
    }

    /**
     * Returns the number of waiting requests of any size, as one read of the server shows it.
     *
     * @return the number
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws dev.zkrecipes.core.LockRefusedException if the semaphore is configured otherwise
     * @throws dev.zkrecipes.core.LockException if there is no answer, or ZooKeeper refuses; see the subclasses
     */
    public int queueLength() throws InterruptedException {
        return (int) internals.snapshot().places().stream()
                .filter(place -> !place.holding())
                .count();
    }

    /**
     * Changes the limit in force, for all processes. A higher limit wakes waiters. A lower one takes no permits away:
     * until enough leases are closed, no new request is granted. Requests that wait for more than the new limit fail
     * with {@link dev.zkrecipes.core.LockRefusedException}. The number that processes are configured with stays the
     * same.
     *
     * <p>Leases that exceed the new limit look like waiting requests, as nothing at the server distinguishes them.
     * Until enough of them are closed, {@link #availablePermits}, {@link #queueLength} and {@link #participants} count
     * them as waiting, except a lease that alone has more permits than the new limit: no request waits for so many.
     * This does not affect which requests are granted.
     *
     * <p>Needs the right to write the semaphore's node.
     *
     * @param maxLeases how many permits there are from now on, at least 1
     * @throws IllegalArgumentException if {@code maxLeases} is less than 1
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws dev.zkrecipes.core.LockRefusedException if the semaphore is configured otherwise
     * @throws dev.zkrecipes.core.LockConnectionException if there is no connection, or no answer in time: it is then
     *     unknown whether the semaphore was resized, and repeating the call does no harm
     * @throws dev.zkrecipes.core.LockException if ZooKeeper refuses
     */
    public void resize(int maxLeases) throws InterruptedException {
        Permits.checkLimit(path, maxLeases);
        internals.changeRule(rule -> {
            SemaphoreLimit limit =
                    rule.map(data -> SemaphoreLimit.decode(path, data)).orElse(SemaphoreLimit.of(this.maxLeases));
            limit.requireConfigured(path, this.maxLeases);
            return limit.resized(maxLeases).encode();
        });
    }

    private int limit(LockSnapshot snapshot) {
        return snapshot.rule()
                .map(data -> SemaphoreLimit.decode(path, data).current())
                .orElse(maxLeases);
    }

    /**
     * Returns the holders and waiters, in the order of the queue, as one read of the server shows them. While more
     * permits are held than a resize has left, some of the holders may be shown as waiting, because only the limit
     * distinguishes them.
     *
     * @return the participants, whose size {@link #permitsOf} returns; empty if there are none
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws dev.zkrecipes.core.LockRefusedException if the semaphore is configured otherwise
     * @throws dev.zkrecipes.core.LockConnectionException if there is no connection, or no answer within the request
     *     time-out
     * @throws dev.zkrecipes.core.LockException if ZooKeeper refuses the request
     */
    public List<Participant> participants() throws InterruptedException {
        return lock(1).participants();
    }

    /**
     * Returns how many permits a participant of a semaphore holds or waits for.
     *
     * @param participant one of {@link #participants()}
     * @return the number, at least 1
     * @throws IllegalArgumentException if it is not a participant of a semaphore
     */
    public static int permitsOf(Participant participant) {
        return Permits.parse(Objects.requireNonNull(participant, "participant").payload())
                .filter(permits -> participant.kind().equals(SemaphoreDriver.KIND))
                .orElseThrow(() -> new IllegalArgumentException("not a participant of a semaphore: " + participant));
    }

    @Override
    public String toString() {
        return "InterProcessSemaphore[" + path + ", " + maxLeases + " permits, " + client + "]";
    }
}
