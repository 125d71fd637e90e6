// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.shedlock;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNames;
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
 * Keeps the locks of ShedLock as locks of this library: each is a mutex on a path of its own, below one path for all.
 *
 * <pre>{@code
 * @Bean
 * LockProvider lockProvider(ZooKeeperClient client) {
 *     return new ZooKeeperLockProvider(client, "/locks/jobs");
 * }
 * }</pre>
 *
 * <p>The session keeps a lock alive for as long as its process lives, so {@code KeepAliveLockProvider} is not needed.
 *
 * <ul>
 *   <li>{@code lockAtMostFor} is for a job that hangs in a living process: then the lock is lost, as after {@link
 *       LockOptions#withHoldAtMost}. A process that dies gives its locks back with its session, which is sooner.
 *   <li>{@code lockAtLeastFor} keeps the lock after the job has ended, so that a process whose clock is late does not
 *       run the job again. No thread waits for that. It ends early if the client is closed or the session ends. Both
 *       times are taken by the monotonic clock of the process that has the lock; clocks are never compared.
 *   <li>{@code extend} replaces both times, from now on. It is empty if the lock is lost; {@code unlock} does not fail
 *       then.
 * </ul>
 *
 * <p>Not re-entrant; whatever thread has the {@link SimpleLock} may unlock or extend it. Errors are {@link
 * LockException}s with one of {@link dev.zkrecipes.core.LockException} as the cause. Without a connection
 * {@code lock} waits for one, for half of {@code lockAtLeastFor} and 30 seconds at most: whoever comes later could run
 * again what another process has just run. When the client is closed it first waits for the jobs that run, at most for
 * its {@linkplain dev.zkrecipes.core.ZooKeeperClientBuilder#closeTimeout close time-out}; a job that works on after
 * that does so without its lock. Instances are thread-safe.
 */
public final class ZooKeeperLockProvider implements ExtensibleLockProvider {
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

    private final ZooKeeperClient client;
    private final String path;
    private final LockOptions options;

    /**
     * Makes a provider with the default settings.
     *
     * @param client the client to use
     * @param path absolute path above the locks, below the client's chroot; created on first use
     * @throws IllegalArgumentException if the path is not a valid absolute path, or is the root
     */
    public ZooKeeperLockProvider(ZooKeeperClient client, String path) {
        this(client, path, LockOptions.defaults());
    }

    /**
     * Makes a provider.
     *
     * @param client the client to use
     * @param path absolute path above the locks, below the client's chroot; created on first use
     * @param options optional settings of each lock; its limit is ShedLock's, whatever they say
     * @throws IllegalArgumentException if the path is not a valid absolute path, or is the root
     */
    public ZooKeeperLockProvider(ZooKeeperClient client, String path, LockOptions options) {
        this.client = client;
        this.path = path;
        this.options = options;
        var unused = new LockInternals(client, path, new MutexDriver(), options); // refuses a bad path
        if (path.equals("/")) {
            throw new IllegalArgumentException("the locks of jobs need a path of their own: not /");
        }
    }

    /**
     * Acquires the lock if it is free. Waits for nobody who has it, but for a connection.
     *
     * @param configuration the name of the lock, in which any character may stand, and its times
     * @return the lock; empty if somebody has it
     * @throws LockException if that could not be found out, or the lock is refused
     * @throws IllegalArgumentException if the name is {@code .} or {@code ..}, or no valid text
     */
    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        Objects.requireNonNull(configuration, "configuration");
        LockOptions limited = options.withHoldAtMost(HeldJobLock.bounded(configuration.getLockAtMostFor()));
        LockInternals engine = engine(configuration.getName(), limited);
        try {
            awaitConnection(configuration.getLockAtLeastFor().dividedBy(2));
            long now = System.nanoTime();
            return engine.unowned()
                    .tryAcquire()
                    .map(lease -> new HeldJobLock(configuration, lease, now, endBeforeClient(engine, lease)));
        } catch (dev.zkrecipes.core.LockException e) {
            throw failed(configuration, e);
        }
    }

    /**
     * Has the client wait for the job before it is closed, unless the job closes it or has lost its lock.
     *
     * @return what to call when the job has ended
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

    /** By the name of the node: it is printable, and what tools show. */
    static LockException failed(LockConfiguration configuration, dev.zkrecipes.core.LockException cause) {
        return new LockException(
                "lock " + LockNames.nodeOf(configuration.getName()) + ": " + cause.getMessage(), cause);
    }

    /** If there is none, the attempt says so; if the thread is interrupted, it is made at once. */
    private void awaitConnection(Duration atMost) {
        try {
            var unused = client.awaitConnected(atMost.compareTo(LONGEST_WAIT) < 0 ? atMost : LONGEST_WAIT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Unless the options name all of them, each job has meters of its own: there are few. */
    private LockInternals engine(String name, LockOptions limited) {
        LockOptions named = limited.name().isPresent() ? limited : limited.withName(LockNames.meterNameOf(name));
        return new LockInternals(client, path + "/" + LockNames.nodeOf(name), new MutexDriver(), named);
    }
}
