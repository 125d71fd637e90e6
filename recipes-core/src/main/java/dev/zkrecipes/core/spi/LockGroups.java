// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.lock.AdaptedLock;
import dev.zkrecipes.core.internal.lock.EngineLock;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.Callbacks;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Locks that belong together: two modes of one lock, several locks as one, and helpers for locks that are composed of
 * others. The author of one lock with one driver needs {@link LockInternals} only.
 */
public final class LockGroups {
    private LockGroups() {}

    /**
     * Two modes of one lock, of which a thread may hold both: an exclusive one and a shared one. The thread that holds
     * the exclusive mode gets the shared one at once, at the same place in the queue and with the same token (one
     * {@code multi} that checks the exclusive node and creates the shared one), and keeps it when it gives back the
     * exclusive one. The other way round is refused with {@link dev.zkrecipes.core.LockRefusedException}: two threads
     * that hold the shared mode would wait for each other forever.
     *
     * @param client the client to use, made by this library
     * @param path absolute path of the lock, below the client's chroot
     * @param exclusive the driver of the mode that excludes all others; knows the nodes of both modes
     * @param shared the driver of the other mode; knows the nodes of both modes, and is at least as permissive:
     *     whenever {@code exclusive} grants, it grants too
     * @param options optional settings
     * @return new locks, both thread-owned
     * @throws IllegalArgumentException as the constructor of {@link LockInternals}
     */
    public static Modes modes(
            ZooKeeperClient client, String path, LockDriver exclusive, LockDriver shared, LockOptions options) {
        EngineClient engine = EngineClient.of(client);
        LockSpec exclusiveSpec =
                new LockInternals(client, path, exclusive, options).spec().withNodesInFront(shared.nodeName());
        LockSpec sharedSpec =
                new LockInternals(client, path, shared, options).spec().withNodesInFront(shared.nodeName());
        return new Modes(
                EngineLock.exclusiveMode(engine, engine.holds(), exclusiveSpec, sharedSpec),
                EngineLock.sharedMode(engine, engine.holds(), sharedSpec, exclusiveSpec));
    }

    /**
     * The two modes of one lock.
     *
     * @param exclusive the mode that excludes all others
     * @param shared the mode that many may hold together
     */
    public record Modes(InterProcessLock exclusive, InterProcessLock shared) {}

    /**
     * Several locks as one, held by threads and re-entrant as a whole: all members are entered by one {@code multi}, so
     * that any two such requests stand in the same order on every path that they share.
     *
     * <p>A thread that holds all members, together or each by itself, holds them once more at once. A request of which
     * the thread holds some members but not all, or one in another mode or by another lock on the same path, is refused
     * with {@link dev.zkrecipes.core.LockRefusedException}: it could wait for itself.
     *
     * @param members locks made by {@link LockInternals}, or {@link DelegatingLock}s on such; of one client, each on a
     *     path of its own
     * @param options optional settings
     * @return a new lock; its path is the members' paths with commas between them
     * @throws IllegalArgumentException if there are no members or too many, one is not a lock of the engine, two have
     *     the same path, or they are not of one client
     */
    public static InterProcessLock together(List<? extends InterProcessLock> members, LockOptions options) {
        Objects.requireNonNull(options, "options");
        return EngineLock.together(members.stream().map(LockGroups::engineLock).toList(), options);
    }

    /**
     * The client that a lock works on, if the lock can be a member of {@link #together}.
     *
     * @param lock any lock
     * @return its client; empty if it is not a lock of the engine, or already several together
     */
    public static Optional<ZooKeeperClient> clientOf(InterProcessLock lock) {
        return EngineLock.behind(lock).filter(EngineLock::isSingle).map(engine -> (EngineClient) engine.client());
    }

    /**
     * Refuses, without asking ZooKeeper, what the calling thread must not wait for, as it would wait for itself:
     * several locks {@link #together} of which it holds some, or one of them another way. For a lock that waits for one
     * of its parts while others are free.
     *
     * @param lock any lock; one that is not of the engine is not refused
     * @throws dev.zkrecipes.core.LockLostException if what the thread holds of it is lost
     * @throws dev.zkrecipes.core.LockRefusedException if the thread would wait for itself
     */
    public static void requireNotHeldInPart(InterProcessLock lock) {
        EngineLock.behind(lock).ifPresent(EngineLock::requireNotHeldInPart);
    }

    /**
     * {@link InterProcessLock#tryAcquire()}, which takes up to the request time-out when the server does not answer,
     * within a shorter time.
     *
     * @param lock any lock; the limit has no effect on one that is not of the engine
     * @param atMost how long to wait for an answer; the request time-out, if that is shorter
     * @return the lease, or empty if the lock is not free
     * @throws dev.zkrecipes.core.LockConnectionException if that could not be found out in time
     */
    public static Optional<Lease> tryAtOnce(InterProcessLock lock, Duration atMost) {
        Optional<EngineLock> engine = EngineLock.behind(lock);
        return engine.isPresent() ? engine.get().tryAtOnce(atMost) : lock.tryAcquire();
    }

    /**
     * A lock of another library as a lock of this one: held by threads, and re-entrant for the thread that holds it. It
     * cannot tell what the other library does not: what {@link ForeignLock} and its holds leave out throws {@link
     * UnsupportedOperationException}.
     *
     * @param lock what the other library does
     * @return a new lock, with holds of its own
     */
    public static InterProcessLock foreign(ForeignLock lock) {
        return foreign(lock, List.of());
    }

    /**
     * A {@link #foreign(ForeignLock) foreign} lock that is made of locks of which some may be of this library. Its
     * leases report their end where the client of the first of those does.
     *
     * @param lock what acquires the parts
     * @param parts the parts
     * @return a new lock, with holds of its own
     */
    public static InterProcessLock foreign(ForeignLock lock, List<? extends InterProcessLock> parts) {
        Callbacks callbacks = parts.stream()
                .flatMap(part -> EngineLock.behind(part).stream())
                .findFirst()
                .map(part -> part.client().callbacks())
                .orElseGet(Callbacks::ofNoClient);
        return AdaptedLock.of(Objects.requireNonNull(lock, "lock"), callbacks);
    }

    /**
     * A {@link #foreign(ForeignLock) foreign} lock that works on the client of a lock of this library. Its leases
     * report where that client's do, and observers of the client are told of its requests. When the client is closed,
     * it grants nothing any more. When the time that {@link LockOptions#withHoldAtMost} allows is over, a hold is lost and
     * given back.
     *
     * <p>What a thread holds, it holds through every equal {@link ForeignLock} on the client. If it holds the same path
     * by another lock, it is refused with {@link dev.zkrecipes.core.LockRefusedException}.
     *
     * @param lock what acquires the lock
     * @param options its name and the limit of its holds; the other options are the foreign lock's to heed
     * @param on a lock of the client
     * @return a new lock, which shares its holds with the others
     * @throws IllegalArgumentException if {@code on} is not a lock of the engine
     */
    public static InterProcessLock foreign(ForeignLock lock, LockOptions options, InterProcessLock on) {
        return AdaptedLock.on(
                engineLock(on), Objects.requireNonNull(lock, "lock"), Objects.requireNonNull(options, "options"));
    }

    private static EngineLock engineLock(InterProcessLock lock) {
        return EngineLock.behind(lock)
                .orElseThrow(() -> new IllegalArgumentException("not a lock of this engine: " + lock));
    }
}
