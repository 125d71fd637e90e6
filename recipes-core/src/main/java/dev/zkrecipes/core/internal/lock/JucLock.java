// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/** A lock as {@link Lock}. Leases are not handed out; {@code unlock} gives back the thread's youngest hold. */
final class JucLock implements Lock {
    private final OwnedLock lock;

    JucLock(OwnedLock lock) {
        this.lock = lock;
    }

    @Override
    public void lock() {
        var unused = lock.acquireUninterruptibly();
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        lock.acquire();
    }

    @Override
    public boolean tryLock() {
        return lock.tryAcquire().isPresent();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        Duration timeout = Duration.ofNanos(unit.toNanos(Math.max(0, time)));
        return lock.tryAcquire(timeout).isPresent();
    }

    @Override
    public void unlock() {
        lock.release();
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a lock that processes share has no conditions");
    }

    @Override
    public String toString() {
        return "Lock[" + lock.path() + "]";
    }
}
