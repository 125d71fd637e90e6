// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import dev.zkrecipes.bench.measure.Site;
import dev.zkrecipes.bench.measure.Workload;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.time.Duration;
import java.util.function.BiFunction;

/** This library's recipes. */
public final class Ours {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private Ours() {}

    /** All threads share one client and one mutex. */
    public static Workload.Opener mutex(LockOptions options) {
        return shared((client, site) -> new InterProcessMutex(client, site.path(), options));
    }

    /** As {@link #mutex}, with a mutex that passes on inside the process. */
    public static Workload.Opener handoffMutex(int most) {
        return shared((client, site) -> new HandoffMutex(client, site.path(), most));
    }

    /** As {@link #mutex}, but the thread continues when the delete is sent. */
    public static Workload.Opener mutexNotAwaited() {
        return Workload.shared(Ours::connect, (client, site) -> {
            InterProcessLock mutex = new InterProcessMutex(client, site.path());
            return thread -> new LeaseCycle(mutex, Ours::giveBackWithoutWaiting);
        });
    }

    private static void giveBackWithoutWaiting(Lease lease) {
        var unused = lease.closeAsync();
    }

    /** Each thread has a client of its own, as if it were another process. */
    public static Workload.Opener mutexOfClients(int count) {
        return Workload.each(
                count,
                Ours::connect,
                (client, site) -> new LeaseCycle(new InterProcessMutex(client, site.path()), Lease::close));
    }

    /** Threads that share a client and have a path each. */
    public static Workload.Opener mutexOfPaths() {
        return Workload.shared(
                Ours::connect,
                (client, site) -> thread ->
                        new LeaseCycle(new InterProcessMutex(client, site.path() + "/" + thread), Lease::close));
    }

    /** All permits of a semaphore at once. */
    public static Workload.Opener semaphore(int permits) {
        return shared((client, site) -> new InterProcessSemaphore(client, site.path(), permits).permits(permits));
    }

    /** Several paths as one. */
    public static Workload.Opener multiLock(int paths) {
        return shared((client, site) -> new InterProcessMultiLock(client, site.paths(paths)));
    }

    /** A lock that the thread already holds, so many times a cycle. */
    public static Workload.Opener reentrant(int times) {
        return Workload.shared(Ours::connect, (client, site) -> {
            InterProcessLock mutex = new InterProcessMutex(client, site.path());
            return thread -> new ReentrantCycle(new LeaseCycle(mutex, Lease::close), times);
        });
    }

    /** A connected client. */
    public static ZooKeeperClient connect(Site site) throws InterruptedException {
        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(site.connectString())
                .sessionTimeout(Duration.ofMillis(Handles.SESSION_MILLIS))
                .build();
        if (!client.awaitConnected(LIMIT)) {
            client.close();
            throw new IllegalStateException("not connected to " + site.connectString() + " after " + LIMIT);
        }
        return client;
    }

    private static Workload.Opener shared(BiFunction<ZooKeeperClient, Site, InterProcessLock> recipe) {
        return Workload.shared(Ours::connect, (client, site) -> {
            InterProcessLock lock = recipe.apply(client, site);
            return thread -> new LeaseCycle(lock, Lease::close);
        });
    }
}
