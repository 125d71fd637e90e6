// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Where the threads that carry bytes wait while nothing may pass. Thread-safe. */
final class Valve {
    /** Long enough for some bytes, short enough not to hang on a peer that does not read. */
    private static final long SETTLE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock")
    private boolean shut;

    @GuardedBy("lock")
    private boolean closed;

    /** How many threads have entered and not left yet. */
    @GuardedBy("lock")
    private int passing;

    /** Lets no thread in any more and waits a while for those that are inside. */
    void shut() {
        lock.lock();
        try {
            shut = true;
            long left = SETTLE_NANOS;
            while (passing > 0 && left > 0) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    void open() {
        lock.lock();
        try {
            shut = false;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Ends every wait, now and later, by an exception. */
    void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the valve is open. */
    void enter() throws IOException, InterruptedException {
        lock.lock();
        try {
            while (shut && !closed) {
                changed.await();
            }
            requireOpen();
            passing++;
        } finally {
            lock.unlock();
        }
    }

    void leave() {
        lock.lock();
        try {
            passing--;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    void requireOpen() throws IOException {
        if (isClosed()) {
            throw new IOException("the gate is closed");
        }
    }
}
