// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/**
 * Runs annotated methods under their locks.
 *
 * <p>When the context closes this stops first, before the web server: calls that wait end at once, and those that come
 * get a free lock or none, so that nothing holds up what is under way. The client is closed last, with the beans.
 */
final class LockedCalls implements SmartLifecycle {
    private final ZooKeeperClient client;
    private final Duration waitAtMost;
    private final Set<Lease> leases = ConcurrentHashMap.newKeySet();
    /** Who waits. A thread that is told to stop is no longer in it. */
    private final Set<Thread> waiting = new HashSet<>();

    private boolean stopped;

    LockedCalls(ZooKeeperClient client, Duration waitAtMost) {
        this.client = client;
        this.waitAtMost = waitAtMost;
    }

    /** The paths of those that are SUSPENDED. */
    Stream<String> suspended() {
        return leases.stream()
                .filter(lease -> lease.state() == LeaseState.SUSPENDED)
                .map(Lease::path);
    }

    @Nullable
    Object run(MethodInvocation call, LockedMethod method) throws Throwable {
        InterProcessMutex mutex = new InterProcessMutex(client, method.path(call), method.options());
        Optional<Lease> acquired = acquire(mutex, method);
        if (acquired.isEmpty()) {
            if (method.skips()) {
                return method.skipped();
            }
            throw new LockNotAcquiredException("the lock " + mutex.path() + " stayed busy, and " + method.name()
                    + " was not run" + (isRunning() ? "" : ": the application is stopping"));
        }
        Lease lease = acquired.get();
        if (AfterTransaction.closes(lease)) {
            return run(call, method, lease);
        }
        try (lease) {
            return run(call, method, lease);
        }
    }

    private @Nullable Object run(MethodInvocation call, LockedMethod method, Lease lease) throws Throwable {
        leases.add(lease);
        try {
            Object result = call.proceed();
            if (lease.state() == LeaseState.LOST) {
                throw new LockLostException("the lock " + lease.path() + " was lost while " + method.name()
                        + " ran: another process may have done the same meanwhile, so check what it did");
            }
            method.requireEnded(result);
            return result;
        } finally {
            leases.remove(lease);
        }
    }

    private Optional<Lease> acquire(InterProcessMutex mutex, LockedMethod method) {
        Duration wait = method.waitAtMost() == null ? waitAtMost : method.waitAtMost();
        boolean told = false;
        try {
            if (wait.isZero() || !begin()) {
                return mutex.tryAcquire();
            }
            try {
                return mutex.tryAcquire(wait);
            } finally {
                told = end();
                if (told) {
                    Thread.interrupted(); // by stop(), which may have come too late for the wait
                }
            }
        } catch (InterruptedException e) {
            if (told) {
                return Optional.empty();
            }
            Thread.currentThread().interrupt();
            throw new LockNotAcquiredException("interrupted while waiting for the lock " + mutex.path() + ", and "
                    + method.name() + " was not run");
        }
    }

    /** Whether the thread may wait. */
    private synchronized boolean begin() {
        return !stopped && waiting.add(Thread.currentThread());
    }

    /** Whether the thread was told to wait no longer. */
    private synchronized boolean end() {
        return !waiting.remove(Thread.currentThread());
    }

    @Override
    public synchronized void start() {
        stopped = false;
    }

    @Override
    public synchronized void stop() {
        stopped = true;
        waiting.forEach(Thread::interrupt);
        waiting.clear();
    }

    @Override
    public synchronized boolean isRunning() {
        return !stopped;
    }
}
