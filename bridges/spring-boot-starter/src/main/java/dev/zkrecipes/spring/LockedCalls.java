// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/**
 * Runs annotated methods under their locks.
 *
 * <p>When the context closes, this bean stops first, before the web server: waiting calls end at once, and new calls
 * get a free lock or none, so that nothing delays the calls in progress. The client is closed last, after all beans.
 */
final class LockedCalls implements AnnotatedCalls, SmartLifecycle {
    private static final int MOST_HOLDERS = 5;

    private final ZooKeeperClient client;
    private final Duration waitAtMost;
    private final Set<CallHold> holds = ConcurrentHashMap.newKeySet();
    /** The threads that wait for a lock. A thread that has been told to stop is removed. */
    private final Set<Thread> waiting = new HashSet<>();

    private boolean stopped;

    LockedCalls(ZooKeeperClient client, Duration waitAtMost) {
        this.client = client;
        this.waitAtMost = waitAtMost;
    }

    /** Returns the paths of the held locks whose leases are SUSPENDED. */
    Stream<String> suspended() {
        return holds.stream()
                .map(CallHold::lease)
                .filter(lease -> lease.state() == LeaseState.SUSPENDED)
                .map(Lease::path);
    }

    @Override
    public @Nullable Object run(MethodInvocation call, LockedMethod method) throws Throwable {
        String path = method.path(call);
        InterProcessLock asked = method.lock(client, path);
        Optional<Lease> acquired = acquire(asked, method);
        if (acquired.isEmpty()) {
            if (method.skips()) {
                return method.skipped();
            }
            throw new LockNotAcquiredException("the lock " + asked.path() + " " + state(asked) + ", and "
                    + method.name() + " was not run" + (isRunning() ? "" : ": the application is stopping"));
        }
        LockInternals lock = new LockInternals(client, path, new MutexDriver(), method.options());
        CallHold hold = new CallHold(lock, acquired.get(), method.name(), holds);
        if (CallHold.belongsToTransaction(hold)) {
            return run(call, method, hold);
        }
        try (hold) {
            return run(call, method, hold);
        }
    }

    /**
     * Describes who holds the lock, in the words of {@code zklock}. Does not ask ZooKeeper while the application is
     * stopping.
     */
    private String state(InterProcessLock busy) {
        try {
            List<Participant> all = isRunning() ? busy.participants() : List.of();
            String holders = all.stream()
                    .filter(Participant::holding)
                    .map(holder -> holder.owner().replaceAll("\\p{Cntrl}", "?"))
                    .distinct()
                    .limit(MOST_HOLDERS)
                    .collect(Collectors.joining(", "));
            return holders.isEmpty() ? "stayed busy" : "is held by " + holders;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (LockException e) {
            // the caller only needs to know that the method was not run
        }
        return "stayed busy";
    }

    private static @Nullable Object run(MethodInvocation call, LockedMethod method, CallHold hold) throws Throwable {
        method.passLease(call, hold.lease());
        hold.enter();
        try {
            Object result = call.proceed();
            hold.requireHeldUntilNow();
            method.requireEnded(result);
            return result;
        } finally {
            hold.leave();
        }
    }

    private Optional<Lease> acquire(InterProcessLock lock, LockedMethod method) {
        Duration wait = method.waitAtMost() == null ? waitAtMost : method.waitAtMost();
        boolean told = false;
        try {
            if (wait.isZero() || !begin()) {
                return lock.tryAcquire();
            }
            try {
                return lock.tryAcquire(wait);
            } finally {
                told = end();
                if (told) {
                    Thread.interrupted(); // clears the interrupt by stop(), which may have come too late for the wait
                }
            }
        } catch (InterruptedException e) {
            if (told) {
                return Optional.empty();
            }
            Thread.currentThread().interrupt();
            throw new LockNotAcquiredException("interrupted while waiting for the lock " + lock.path() + ", and "
                    + method.name() + " was not run");
        }
    }

    /** Returns whether the thread may wait, and records that it does. */
    private synchronized boolean begin() {
        return !stopped && waiting.add(Thread.currentThread());
    }

    /** Records that the thread no longer waits. Returns whether {@link #stop} told it to stop waiting. */
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
