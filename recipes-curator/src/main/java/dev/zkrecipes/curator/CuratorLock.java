// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.spi.ForeignLock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.zookeeper.KeeperException;

/** A lock of Curator's. Such locks do not report a loss, so the framework's connection is watched instead. */
record CuratorLock(CuratorFramework framework, String path, InterProcessLock lock) implements ForeignLock {

    @Override
    public Hold acquire() throws InterruptedException {
        while (true) {
            Optional<Hold> hold = once(() -> {
                lock.acquire();
                return true;
            });
            if (hold.isPresent() && hold.get().state() != LeaseState.LOST) {
                return hold.get();
            }
            hold.ifPresent(Hold::release);
        }
    }

    @Override
    public Optional<Hold> tryAcquire(Duration atMost) throws InterruptedException {
        long begin = System.nanoTime();
        long limit = nanos(atMost);
        while (true) {
            long left = Math.max(0, limit - (System.nanoTime() - begin));
            Optional<Hold> hold = once(() -> lock.acquire(left, TimeUnit.NANOSECONDS));
            if (hold.isEmpty() || hold.get().state() != LeaseState.LOST) {
                return hold;
            }
            hold.get().release();
        }
    }

    private static long nanos(Duration atMost) {
        return atMost.compareTo(Duration.ofNanos(Long.MAX_VALUE)) < 0 ? atMost.toNanos() : Long.MAX_VALUE;
    }

    /** Listens from before the request, so that a session that ends meanwhile counts as a loss. */
    private Optional<Hold> once(Callable<Boolean> request) throws InterruptedException {
        CuratorHold hold = CuratorHold.begin(this);
        boolean acquired = false;
        try {
            acquired = request.call();
        } catch (InterruptedException e) {
            var unused = Thread.interrupted(); // Curator sets the flag again
            throw e;
        } catch (Exception e) {
            throw translated(e);
        } finally {
            if (!acquired) {
                hold.end();
            }
        }
        return acquired ? Optional.of(hold.checked()) : Optional.empty();
    }

    RuntimeException translated(Exception failure) {
        if (failure instanceof RuntimeException unchecked) {
            return unchecked;
        }
        if (isOfConnection(failure)) {
            return new LockConnectionException(
                    "Curator's lock " + path + ": no answer from ZooKeeper (" + failure.getMessage()
                            + "); try again when the CuratorFramework is connected",
                    failure);
        }
        return new LockException("Curator's lock " + path + " failed: " + failure, failure);
    }

    LockException belongsToADeadThread(Thread owner, IllegalMonitorStateException failure) {
        return new LockException(
                "Curator's lock " + path + " belongs to thread " + owner.getName()
                        + ", which has ended, and Curator lets no other thread release it: the node stays until the"
                        + " framework's session ends; close the lease on the thread that acquired it",
                failure);
    }

    /** Whether Curator repeats a deletion by itself. */
    static boolean isOfConnection(Exception failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) { // its semaphores wrap it
            if (each instanceof KeeperException.ConnectionLossException
                    || each instanceof KeeperException.OperationTimeoutException
                    || each instanceof KeeperException.SessionExpiredException
                    || each instanceof KeeperException.SessionMovedException) {
                return true;
            }
        }
        return false;
    }
}
