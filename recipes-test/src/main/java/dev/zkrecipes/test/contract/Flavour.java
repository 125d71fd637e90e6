// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** One way to ask for a lock. */
enum Flavour {
    PLAIN {
        @Override
        Optional<Runnable> ask(InterProcessLock lock, Duration limit) throws InterruptedException {
            return Optional.of(lock.acquire()::close);
        }
    },
    TIMED {
        @Override
        Optional<Runnable> ask(InterProcessLock lock, Duration limit) throws InterruptedException {
            return lock.tryAcquire(limit).map(lease -> lease::close);
        }
    },
    TRY {
        @Override
        Optional<Runnable> ask(InterProcessLock lock, Duration limit) {
            return lock.tryAcquire().map(lease -> lease::close);
        }
    },
    ASYNC {
        @Override
        Optional<Runnable> ask(InterProcessLock lock, Duration limit) {
            try {
                Lease lease = lock.acquireAsync().join();
                return Optional.of(lease::close);
            } catch (CompletionException e) {
                throw (RuntimeException) e.getCause();
            }
        }
    },
    JUC_LOCK {
        @Override
        Optional<Runnable> ask(InterProcessLock lock, Duration limit) {
            lock.asLock().lock();
            return Optional.of(lock.asLock()::unlock);
        }
    },
    JUC_LOCK_INTERRUPTIBLY {
        @Override
        Optional<Runnable> ask(InterProcessLock lock, Duration limit) throws InterruptedException {
            lock.asLock().lockInterruptibly();
            return Optional.of(lock.asLock()::unlock);
        }
    },
    JUC_TRY_LOCK {
        @Override
        Optional<Runnable> ask(InterProcessLock lock, Duration limit) {
            return lock.asLock().tryLock() ? Optional.of(lock.asLock()::unlock) : Optional.empty();
        }
    },
    JUC_TRY_LOCK_TIMED {
        @Override
        Optional<Runnable> ask(InterProcessLock lock, Duration limit) throws InterruptedException {
            return lock.asLock().tryLock(limit.toNanos(), TimeUnit.NANOSECONDS)
                    ? Optional.of(lock.asLock()::unlock)
                    : Optional.empty();
        }
    };

    private static final Set<Flavour> TRYING = EnumSet.of(TRY, JUC_TRY_LOCK);
    private static final Set<Flavour> LIMITED = EnumSet.of(TIMED, JUC_TRY_LOCK_TIMED);
    private static final Set<Flavour> INTERRUPTIBLE =
            EnumSet.of(PLAIN, TIMED, JUC_LOCK_INTERRUPTIBLY, JUC_TRY_LOCK_TIMED);

    /**
     * Asks for the lock and waits for the answer.
     *
     * @param limit how long to wait, for those who can be told
     * @return what gives the lock back, by the same thread; empty if the lock was not granted
     */
    abstract Optional<Runnable> ask(InterProcessLock lock, Duration limit) throws InterruptedException;

    /** Ways to ask that wait for another holder. */
    static Stream<Flavour> waiting() {
        return EnumSet.complementOf(EnumSet.copyOf(TRYING)).stream();
    }

    /** Ways to ask that do not wait. */
    static Stream<Flavour> trying() {
        return TRYING.stream();
    }

    /** Ways to ask that wait for a limited time. */
    static Stream<Flavour> timed() {
        return LIMITED.stream();
    }

    /** Ways to ask that an interrupt ends. */
    static Stream<Flavour> interruptible() {
        return INTERRUPTIBLE.stream();
    }

    /** Ways to ask that ignore an interrupt. */
    static Stream<Flavour> uninterruptible() {
        return EnumSet.complementOf(EnumSet.copyOf(INTERRUPTIBLE)).stream();
    }

    /** Ways to ask that block the calling thread. */
    static Stream<Flavour> blocking() {
        return EnumSet.complementOf(EnumSet.of(ASYNC)).stream();
    }
}
