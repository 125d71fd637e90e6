// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.spi.ForeignLock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.zookeeper.KeeperException;

/** A Curator lock. Curator's locks do not report a loss, so the framework's connection is observed instead. */
record CuratorLock(CuratorFramework framework, String path, Theirs lock) implements ForeignLock {

    @Override
    public Hold acquire() throws InterruptedException {
        while (true) {
            Hold hold = once(lock.request()).orElseThrow();
            if (hold.state() != LeaseState.LOST) {
                return hold;
            }
            hold.release();
        }
    }

    @Override
    public Optional<Hold> tryAcquire(Duration atMost) throws InterruptedException {
        long begin = System.nanoTime();
        long limit = nanos(atMost);
        while (true) {
            long left = Math.max(0, limit - (System.nanoTime() - begin));
            Optional<Hold> hold = once(lock.request(left));
            if (hold.isEmpty() || hold.get().state() != LeaseState.LOST) {
                return hold;
            }
            hold.get().release();
        }
    }

    private static long nanos(Duration atMost) {
        return atMost.compareTo(Duration.ofNanos(Long.MAX_VALUE)) < 0 ? atMost.toNanos() : Long.MAX_VALUE;
    }

    /**
     * Tries to acquire once. The hold listens before the request is sent, so that a session that ends during the
     * request counts as a loss.
     */
    private Optional<Hold> once(Callable<Optional<Callable<Boolean>>> request) throws InterruptedException {
        OwnHolds.requireNoneLost(this);
        CuratorHold hold = CuratorHold.begin(this);
        Optional<Callable<Boolean>> held = Optional.empty();
        try {
            held = request.call();
        } catch (Exception e) {
            if (isInterrupt(e)) {
                var unused = Thread.interrupted(); // Curator sets the flag in addition to the exception
                throw interrupted(e);
            }
            boolean isOfSession = e instanceof NullPointerException && hold.state() == LeaseState.LOST;
            throw translated(isOfSession ? sessionExpired(e) : e);
        } finally {
            if (held.isEmpty()) {
                hold.end();
            }
        }
        return held.map(hold::withRelease);
    }

    /** Returns what Curator should have thrown: it may have no node if its session ends while it creates one. */
    private static Exception sessionExpired(Exception failure) {
        Exception expired = new KeeperException.SessionExpiredException();
        expired.initCause(failure);
        return expired;
    }

    private static InterruptedException interrupted(Exception failure) {
        if (failure instanceof InterruptedException plain) {
            return plain;
        }
        InterruptedException interrupted = new InterruptedException(failure.getMessage());
        interrupted.initCause(failure);
        return interrupted;
    }

    RuntimeException translated(Exception failure) {
        if (isClosed()) {
            ClientClosedException closed =
                    new ClientClosedException("Curator's lock " + path + ": the CuratorFramework was closed");
            closed.initCause(failure);
            return closed;
        }
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

    LockException belongsToAnotherThread(Thread owner, Exception failure) {
        boolean isAlive = owner.isAlive();
        return new LockException(
                "Curator's lock " + path + " belongs to thread " + owner.getName()
                        + (isAlive ? "" : ", which has ended")
                        + ", and Curator lets no other thread release it: the node"
                        + " stays until " + (isAlive ? "that thread closes the lease, or " : "")
                        + "the framework's session ends; close the lease on the thread that acquired it",
                failure);
    }

    boolean isClosed() {
        return framework.getState() == CuratorFrameworkState.STOPPED;
    }

    /** Whether the connection caused the failure. Curator retries a deletion by itself after such a failure. */
    static boolean isOfConnection(Exception failure) {
        return isCausedBy(failure, KeeperException.ConnectionLossException.class)
                || isCausedBy(failure, KeeperException.OperationTimeoutException.class)
                || isCausedBy(failure, KeeperException.SessionExpiredException.class)
                || isCausedBy(failure, KeeperException.SessionMovedException.class);
    }

    /** Whether Curator lets only another thread release the lock. Its multi-lock wraps what several locks throw. */
    static boolean isOfAnotherThread(Exception failure) {
        return isCausedBy(failure, IllegalMonitorStateException.class);
    }

    static boolean isInterrupt(Exception failure) {
        return isCausedBy(failure, InterruptedException.class);
    }

    /** Searches the whole chain of causes, because Curator's semaphores and multi-locks wrap exceptions. */
    private static boolean isCausedBy(Exception failure, Class<? extends Exception> type) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (type.isInstance(each)) {
                return true;
            }
        }
        return false;
    }
}
