// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import com.google.errorprone.annotations.Immutable;
import dev.zkrecipes.core.InterProcessLock;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A way to request a lock. */
enum Flavour {
    PLAIN((lock, limit) -> Optional.of(lock.acquire()::close)),
    TIMED((lock, limit) -> lock.tryAcquire(limit).map(lease -> lease::close)),
    TRY((lock, limit) -> lock.tryAcquire().map(lease -> lease::close)),
    ASYNC((lock, limit) -> {
        try {
            return Optional.of(lock.acquireAsync().join()::close);
        } catch (CompletionException e) {
            throw (RuntimeException) e.getCause();
        }
    }),
    JUC_LOCK((lock, limit) -> {
        lock.asLock().lock();
        return unlocking(lock, true);
    }),
    JUC_LOCK_INTERRUPTIBLY((lock, limit) -> {
        lock.asLock().lockInterruptibly();
        return unlocking(lock, true);
    }),
    JUC_TRY_LOCK((lock, limit) -> unlocking(lock, lock.asLock().tryLock())),
    JUC_TRY_LOCK_TIMED((lock, limit) -> unlocking(lock, lock.asLock().tryLock(limit.toNanos(), TimeUnit.NANOSECONDS)));

    private static final Set<Flavour> TRYING = EnumSet.of(TRY, JUC_TRY_LOCK);
    private static final Set<Flavour> LIMITED = EnumSet.of(TIMED, JUC_TRY_LOCK_TIMED);
    private static final Set<Flavour> INTERRUPTIBLE =
            EnumSet.of(PLAIN, TIMED, JUC_LOCK_INTERRUPTIBLY, JUC_TRY_LOCK_TIMED);

    private final Way way;

    Flavour(Way way) {
        this.way = way;
    }

    @Immutable
    private interface Way {
        Optional<Runnable> ask(InterProcessLock lock, Duration limit) throws InterruptedException;
    }

    /**
     * Requests the lock and waits for the answer.
     *
     * @param limit the longest time to wait, for the ways that have a limit
     * @return an action that releases the lock, to be run on the same thread; empty if the lock was not granted
     */
    Optional<Runnable> ask(InterProcessLock lock, Duration limit) throws InterruptedException {
        return way.ask(lock, limit);
    }

    private static Optional<Runnable> unlocking(InterProcessLock lock, boolean granted) {
        return granted ? Optional.of(lock.asLock()::unlock) : Optional.empty();
    }

    /** Returns the ways that wait for another holder. */
    static Stream<Flavour> waiting() {
        return EnumSet.complementOf(EnumSet.copyOf(TRYING)).stream();
    }

    /** Returns the ways that return at once instead of waiting. */
    static Stream<Flavour> trying() {
        return TRYING.stream();
    }

    /** Returns the ways that wait for a limited time. */
    static Stream<Flavour> timed() {
        return LIMITED.stream();
    }

    /** Returns the ways that an interrupt ends. */
    static Stream<Flavour> interruptible() {
        return INTERRUPTIBLE.stream();
    }

    /** Returns the ways that ignore an interrupt. */
    static Stream<Flavour> uninterruptible() {
        return EnumSet.complementOf(EnumSet.copyOf(INTERRUPTIBLE)).stream();
    }

    /** Returns the ways that block the calling thread. */
    static Stream<Flavour> blocking() {
        return EnumSet.complementOf(EnumSet.of(ASYNC)).stream();
    }
}
