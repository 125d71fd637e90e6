// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.lock.AdaptedLock;
import dev.zkrecipes.core.internal.lock.EngineLock;
import dev.zkrecipes.core.internal.thread.Callbacks;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * For a lock that stands on other locks, as the multi-lock of several clients and the hand-over inside a process do.
 * The author of a driver needs none of it.
 */
public final class LockParts {
    private LockParts() {}

    /**
     * Tells which locks can be members of one {@link LockGroups#together}: those of one client.
     *
     * @param lock any lock
     * @return the same for all locks of its client; empty if it is not a lock of the engine, or already several
     *     together
     */
    public static Optional<Object> joinable(InterProcessLock lock) {
        return EngineLock.behind(lock).filter(EngineLock::isSingle).map(EngineLock::client);
    }

    /**
     * Refuses, without asking ZooKeeper, what the calling thread must not wait for, as it would wait for itself:
     * several locks {@linkplain LockGroups#together together} of which it holds some, or one of them another way. For a
     * lock that waits for one of its parts while others are free.
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
        Optional<EngineLock> ours = EngineLock.behind(lock);
        return ours.isPresent() ? ours.get().tryAtOnce(Objects.requireNonNull(atMost, "atMost")) : lock.tryAcquire();
    }

    /**
     * A {@linkplain LockGroups#foreign foreign} lock that is made of locks of which some may be of this library. Its
     * leases report their end where the client of the first of those does.
     *
     * @param lock what acquires the parts
     * @param parts the parts
     * @return a new lock, with holds of its own
     */
    public static InterProcessLock foreign(ForeignLock lock, List<? extends InterProcessLock> parts) {
        Objects.requireNonNull(parts, "parts");
        Callbacks callbacks = parts.stream()
                .flatMap(part -> EngineLock.behind(part).stream())
                .findFirst()
                .map(part -> part.client().callbacks())
                .orElseGet(Callbacks::ofNoClient);
        return AdaptedLock.of(Objects.requireNonNull(lock, "lock"), callbacks);
    }

    /**
     * A {@linkplain LockGroups#foreign foreign} lock that works on the client of a lock of this library. Its leases
     * report where that client's do, and observers of the client are told of its requests. When the client is closed,
     * it grants nothing any more. When the time that {@link LockOptions#withHoldAtMost} allows is over, a hold is lost
     * and given back.
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
                LockGroups.engineLock(Objects.requireNonNull(on, "on")),
                Objects.requireNonNull(lock, "lock"),
                Objects.requireNonNull(options, "options"));
    }
}
