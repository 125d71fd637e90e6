// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.shedlock;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNames;
import dev.zkrecipes.core.spi.LockParts;
import dev.zkrecipes.core.spi.MutexDriver;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;

/**
 * Implements the locks of ShedLock by locks of this library: each is a mutex on a path of its own, and all these paths
 * are below a common one.
 *
 * <pre>{@code
 * @Bean
 * LockProvider lockProvider(ZooKeeperClient client) {
 *     return new ZooKeeperLockProvider(client, "/locks/jobs");
 * }
 * }</pre>
 *
 * <p>The session keeps a lock alive as long as its process is alive, so {@code KeepAliveLockProvider} is not needed.
 *
 * <ul>
 *   <li>{@code lockAtMostFor} limits a job that hangs in a process that is alive: the lock is then lost, as with {@link
 *       LockOptions#withHoldAtMost}. The locks of a dead process are released with its session, usually sooner.
 *   <li>{@code lockAtLeastFor} keeps the lock after the job has ended, so that a process whose clock is late does not
 *       run the job again. No thread waits meanwhile. The lock is released early if the client is closed or the session
 *       ends. Both times are measured by the monotonic clock of the process that has the lock; clocks are never
 *       compared.
 *   <li>{@code extend} replaces both times, which start again. It returns empty if the lock is lost; {@code unlock}
 *       does not fail in that case.
 * </ul>
 *
 * <p>The locks are not re-entrant. Any thread may unlock or extend a {@link SimpleLock}. Errors are {@link
 * LockException}s whose cause is a {@link dev.zkrecipes.core.LockException}. Without a connection or an answer, {@code
 * lock} waits for half of {@code lockAtLeastFor} but at most 30 seconds: a process that waited longer could run a job
 * again that another process has just run. For an answer it waits at least a second, and, if there is no {@code
 * lockAtLeastFor}, for the request time-out. Closing the client first waits for running jobs, at most for its
 * {@linkplain dev.zkrecipes.core.ZooKeeperClientBuilder#closeTimeout close time-out}; a job that continues after that
 * does so without its lock. Instances are thread-safe.
 */
public final class ZooKeeperLockProvider implements ExtensibleLockProvider {
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);
    private static final Duration LEAST_FOR_AN_ANSWER = Duration.ofSeconds(1);

    private final ZooKeeperClient client;
    private final String path;
    private final LockOptions options;

    /**
     * Creates a provider with the default settings.
     *
     * @param client the client to use
     * @param path absolute path above the locks, below the client's chroot; created on first use
     * @throws IllegalArgumentException if the path is not a valid absolute path, or is the root
     */
    public ZooKeeperLockProvider(ZooKeeperClient client, String path) {
        this(client, path, LockOptions.defaults());
    }

    /**
     * Creates a provider.
     *
     * @param client the client to use
     * @param path absolute path above the locks, below the client's chroot; created on first use
     * @param options optional settings of each lock; a limit of holds in them is replaced by {@code lockAtMostFor}
     * @throws IllegalArgumentException if the path is not a valid absolute path, or is the root
     */
    public ZooKeeperLockProvider(ZooKeeperClient client, String path, LockOptions options) {
        this.client = client;
        this.path = path;
        this.options = options;
        var unused = new LockInternals(client, path, new MutexDriver(), options); // rejects an invalid path
        if (path.equals("/")) {
            throw new IllegalArgumentException("the locks of jobs need a path of their own: not /");
        }
    }

    /**
     * Acquires the lock if it is free. Does not wait for a holder, but may wait for a connection.
     *
     * @param configuration the name of the lock, which may contain any character, and its times
     * @return the lock; empty if another process or thread has it
     * @throws LockException if it is unknown whether the lock is free, or if the lock is refused
     * @throws IllegalArgumentException if the name is {@code .} or {@code ..}, or is not valid text
     */
    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        Objects.requireNonNull(configuration, "configuration");
        LockOptions limited = options.withHoldAtMost(HeldJobLock.bounded(configuration.getLockAtMostFor()));
        LockInternals engine = engine(configuration.getName(), limited);
        try {
            Duration wait = waitFor(configuration.getLockAtLeastFor());
            long begin = System.nanoTime();
            awaitConnection(wait);
            long now = System.nanoTime();
            return tryAcquire(engine.unowned(), wait, now - begin)
                    .map(lease -> new HeldJobLock(configuration, lease, now, endBeforeClient(engine, lease)));
        } catch (dev.zkrecipes.core.LockException e) {
            throw failed(configuration, e);
        }
    }

    /** Returns how long to wait for a connection. ShedLock allows a negative time, which is as good as none. */
    private static Duration waitFor(Duration lockAtLeastFor) {
        Duration half = lockAtLeastFor.dividedBy(2);
        Duration wait = half.compareTo(LONGEST_WAIT) < 0 ? half : LONGEST_WAIT;
        return wait.isNegative() ? Duration.ZERO : wait;
    }

    /**
     * Makes the close of the client wait for the job, unless the job itself closes the client or has lost its lock.
     *
     * @return to be called when the job has ended
     */
    private static Runnable endBeforeClient(LockInternals engine, Lease lease) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        Thread job = Thread.currentThread();
        try {
            Runnable forget = engine.endBeforeClient(
                    () -> Thread.currentThread() == job ? CompletableFuture.completedFuture(null) : end);
            Runnable ended = () -> {
                forget.run();
                end.complete(null);
            };
            var unused = lease.ended().thenRun(ended);
            return ended;
        } catch (ClientClosedException closing) {
            lease.close();
            throw closing;
        }
    }

    /** Wraps a failure. The message has the name of the node, which is printable and which the tools show. */
    static LockException failed(LockConfiguration configuration, dev.zkrecipes.core.LockException cause) {
        return new LockException(
                "lock " + LockNames.nodeOf(configuration.getName()) + ": " + cause.getMessage(), cause);
    }

    /**
     * Waits for a connection. Returns without one when the time has elapsed, as the attempt to acquire reports that, or
     * at once if the thread is interrupted.
     */
    private void awaitConnection(Duration atMost) {
        try {
            var unused = client.awaitConnected(atMost);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the answer no longer than for a connection: the client may not have noticed that it has none. */
    private static Optional<Lease> tryAcquire(InterProcessLock lock, Duration wait, long waited) {
        if (wait.isZero()) {
            return lock.tryAcquire();
        }
        Duration left = wait.minusNanos(waited);
        return LockParts.tryAtOnce(lock, left.compareTo(LEAST_FOR_AN_ANSWER) > 0 ? left : LEAST_FOR_AN_ANSWER);
    }

    /**
     * Creates the engine for one job. Unless the options name all locks, each job has meters of its own: the number of
     * jobs is small.
     */
    private LockInternals engine(String name, LockOptions limited) {
        LockOptions named = limited.name().isPresent() ? limited : limited.withName(LockNames.meterNameOf(name));
        return new LockInternals(client, path + "/" + LockNames.nodeOf(name), new MutexDriver(), named);
    }
}
