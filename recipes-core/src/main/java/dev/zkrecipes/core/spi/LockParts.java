// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import com.google.common.base.Preconditions;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.lock.AdaptedLock;
import dev.zkrecipes.core.internal.lock.EngineLock;
import dev.zkrecipes.core.internal.lock.ManyLeases;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Support for locks that are built on other locks, such as the multi-lock of several clients and the hand-over inside a
 * process. Authors of drivers do not need it.
 */
public final class LockParts {
    private LockParts() {}

    /**
     * Determines which locks can be members of one {@link LockGroups#together}: those of one client.
     *
     * @param lock any lock
     * @return an object that is the same for all locks of one client; empty if the lock is not one of the engine, or is
     *     already several locks together
     */
    public static Optional<Object> joinable(InterProcessLock lock) {
        return EngineLock.behind(lock).filter(EngineLock::isSingle).map(EngineLock::client);
    }

    /**
     * Refuses, without asking ZooKeeper, a lock for which the calling thread must not wait, as it would wait for
     * itself: several locks {@linkplain LockGroups#together together} of which it holds some, or one of them in another
     * way. Intended for a lock that waits for one of its parts while others are free.
     *
     * @param lock any lock; one that is not of the engine is not refused
     * @throws dev.zkrecipes.core.LockLostException if a hold that the thread has on it is lost
     * @throws dev.zkrecipes.core.LockRefusedException if the thread would wait for itself
     */
    public static void requireNotHeldInPart(InterProcessLock lock) {
        EngineLock.behind(lock).ifPresent(EngineLock::requireNotHeldInPart);
    }

    /**
     * Acquires the lock as {@link InterProcessLock#tryAcquire()} does, but may wait for the server's answer for a
     * shorter time than the request time-out.
     *
     * @param lock any lock; of those that are not of the engine, {@link ForeignLock#tryAtOnce} decides about the limit
     * @param atMost how long to wait for an answer; the request time-out, if that is shorter
     * @return the lease, or empty if the lock is not free
     * @throws dev.zkrecipes.core.LockConnectionException if there was no answer in time
     */
    public static Optional<Lease> tryAtOnce(InterProcessLock lock, Duration atMost) {
        return EngineLock.tryAtOnce(lock, Objects.requireNonNull(atMost, "atMost"));
    }

    /**
     * Closes several leases, the last one first, and waits for all of them at once: as long as {@link Lease#close} may
     * wait for one, not for one after another. A lock of another library without a client is released on the calling
     * thread, after the release of the others has begun.
     *
     * @param leases the leases; those that are closed already stay so
     * @throws RuntimeException the first failure, to which the others are added as suppressed; all leases are closed
     */
    public static void closeAll(List<? extends Lease> leases) {
        ManyLeases.close(Objects.requireNonNull(leases, "leases"));
    }

    /**
     * Verifies several leases as {@link Lease#verify} does. Those of locks of the engine are verified at once, so that
     * this takes as long as for one of them at most.
     *
     * @param leases the leases
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws dev.zkrecipes.core.LockException if one of them is lost, or it is not known whether it is
     */
    public static void verifyAll(List<? extends Lease> leases) throws InterruptedException {
        ManyLeases.verify(Objects.requireNonNull(leases, "leases"));
    }

    /**
     * Creates a {@linkplain LockGroups#foreign foreign} lock that consists of other locks, some of which may be of this
     * library. Its leases report their end on the callback threads of the client of the first such lock. When the
     * shortest time that {@link LockOptions#withHoldAtMost} allows for it or for one of the parts has elapsed, a hold
     * is lost and released, by the timer of that client; sooner if that client is closed.
     *
     * @param lock what acquires the parts
     * @param parts the parts
     * @param options the limit of its holds; the other options are not used
     * @return a new lock, with holds of its own
     * @throws IllegalArgumentException if the options set a limit and no part works on a client, or if two parts on one
     *     client have the same path
     */
    public static InterProcessLock foreign(
            ForeignLock lock, List<? extends InterProcessLock> parts, LockOptions options) {
        Objects.requireNonNull(lock, "lock");
        Objects.requireNonNull(parts, "parts");
        Objects.requireNonNull(options, "options");
        Optional<EngineClient> client = parts.stream()
                .flatMap(part -> EngineLock.clientOf(part).stream())
                .findFirst();
        Preconditions.checkArgument(
                client.isPresent() || options.holdAtMost().isEmpty(),
                "the locks %s cannot be held at most for some time, because none of them is of a client of this"
                        + " library, whose timer would measure it: leave out withHoldAtMost",
                lock.path());
        requireDifferentPaths(parts);
        LockOptions limit = Stream.concat(
                        options.holdAtMost().stream(),
                        parts.stream().flatMap(part -> EngineLock.holdAtMost(part).stream()))
                .min(Comparator.naturalOrder())
                .map(LockOptions.defaults()::withHoldAtMost)
                .orElseGet(LockOptions::defaults);
        return AdaptedLock.of(lock, limit, client.orElse(null));
    }

    /** Refuses two parts on one path of one client: the second one would be a re-entry, or wait for the first. */
    private static void requireDifferentPaths(List<? extends InterProcessLock> parts) {
        Set<Object> found = new HashSet<>();
        for (InterProcessLock part : parts) {
            EngineLock.clientOf(part)
                    .ifPresent(client -> EngineLock.pathsOf(part)
                            .forEach(path -> Preconditions.checkArgument(
                                    found.add(List.of(client, path)), "the path %s is named twice", path)));
        }
    }

    /**
     * Creates a {@linkplain LockGroups#foreign foreign} lock that works on the client of a lock of this library. Its
     * leases report on the callback threads of that client, and observers of the client are told of its requests. Once
     * the client is closed, the lock grants nothing any more. When the time that {@link LockOptions#withHoldAtMost}
     * allows has elapsed, a hold is lost and released.
     *
     * <p>A thread's hold counts for every equal {@link ForeignLock} on the client. A thread that holds the same path by
     * another lock is refused with {@link dev.zkrecipes.core.LockRefusedException}.
     *
     * @param lock what acquires the lock
     * @param options its name and the limit of its holds; the foreign lock has to honour the other options itself
     * @param on a lock of the client
     * @return a new lock, which shares its holds with the others
     * @throws IllegalArgumentException if {@code on} is not a lock of the engine
     */
    public static InterProcessLock foreign(ForeignLock lock, LockOptions options, InterProcessLock on) {
        return AdaptedLock.on(
                LockGroups.engineLock(Objects.requireNonNull(on, "on")),
                Objects.requireNonNull(lock, "lock"),
                Objects.requireNonNull(options, "options"));
    }
}
