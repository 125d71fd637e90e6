// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/** Presents a lock of this library through Curator's interface. */
record LockForCurator(dev.zkrecipes.core.InterProcessLock lock) implements InterProcessLock {

    @Override
    public void acquire() throws InterruptedException, KeeperException {
        try {
            var unused = lock.acquire();
        } catch (LockException e) {
            throw asCurators(e);
        }
    }

    @Override
    public boolean acquire(long time, @Nullable TimeUnit unit) throws InterruptedException, KeeperException {
        if (unit == null) { // Curator's own locks also wait without a limit then
            acquire();
            return true;
        }
        try {
            Optional<Lease> held = lock.tryAcquire(Duration.ofNanos(Math.max(0, unit.toNanos(time))));
            return held.isPresent();
        } catch (LockException e) {
            throw asCurators(e);
        }
    }

    @Override
    public void release() throws KeeperException {
        try {
            lock.release();
        } catch (LockLostException e) {
            // The lock is released all the same, and callers of Curator's interface expect no report of a loss.
        } catch (LockException e) {
            throw asCurators(e);
        }
    }

    @Override
    public boolean isAcquiredInThisProcess() {
        return lock.isAcquiredInThisProcess();
    }

    /**
     * Returns the checked exception that Curator would throw in place of {@code failure}. Throws the exception here if
     * it is unchecked.
     */
    private static KeeperException asCurators(LockException failure) {
        if (failure instanceof ClientClosedException) {
            throw new IllegalStateException(failure.getMessage(), failure);
        }
        KeeperException known;
        if (failure instanceof LockConnectionException) {
            known = new KeeperException.ConnectionLossException();
        } else if (failure instanceof LockAccessException) {
            known = new KeeperException.NoAuthException();
        } else {
            throw failure;
        }
        known.initCause(failure);
        return known;
    }

    @Override
    public String toString() {
        return "Curator's view of " + lock;
    }
}
