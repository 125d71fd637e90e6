// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import dev.zkrecipes.bench.measure.Cycle;
import dev.zkrecipes.bench.measure.Site;
import dev.zkrecipes.bench.measure.Workload;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryOneTime;

/** Apache Curator's locks as a contender. */
public final class Curator {
    private static final int LIMIT_SECONDS = 20;

    private Curator() {}

    /** All threads share one client and one mutex. */
    public static Workload.Opener mutex() {
        return shared((client, site) -> new InterProcessMutex(client, site.path()));
    }

    /** Each thread has a client of its own, as if it were another process. */
    public static Workload.Opener mutexOfClients(int count) {
        return Workload.each(
                count, Curator::connect, (client, site) -> cycle(new InterProcessMutex(client, site.path())));
    }

    /** Threads that share a client and have a path each. */
    public static Workload.Opener mutexOfPaths() {
        return Workload.shared(
                Curator::connect,
                (client, site) -> thread -> cycle(new InterProcessMutex(client, site.path() + "/" + thread)));
    }

    /** All permits of a semaphore, which Curator takes one by one. */
    public static Workload.Opener semaphore(int permits) {
        return Workload.shared(Curator::connect, (client, site) -> {
            InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, site.path(), permits);
            return thread -> new SemaphoreCycle(semaphore, permits);
        });
    }

    /** Several paths as one. */
    public static Workload.Opener multiLock(int paths) {
        return shared((client, site) -> new InterProcessMultiLock(client, site.paths(paths)));
    }

    /** A lock that the thread already holds, so many times a cycle. */
    public static Workload.Opener reentrant(int times) {
        return Workload.shared(Curator::connect, (client, site) -> {
            InterProcessLock mutex = new InterProcessMutex(client, site.path());
            return thread -> new ReentrantCycle(cycle(mutex), times);
        });
    }

    private static Workload.Opener shared(BiFunction<CuratorFramework, Site, InterProcessLock> recipe) {
        return Workload.shared(Curator::connect, (client, site) -> {
            InterProcessLock lock = recipe.apply(client, site);
            return thread -> cycle(lock);
        });
    }

    private static Cycle cycle(InterProcessLock lock) {
        return new Cycle() {
            @Override
            public void acquire() throws InterruptedException {
                run(lock::acquire);
            }

            @Override
            public void release() throws InterruptedException {
                run(lock::release);
            }
        };
    }

    private static CuratorFramework connect(Site site) throws InterruptedException {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(site.connectString())
                .sessionTimeoutMs(Handles.SESSION_MILLIS)
                .retryPolicy(new RetryOneTime(100))
                .build();
        client.start();
        if (!client.blockUntilConnected(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            client.close();
            throw new IllegalStateException(
                    "not connected to " + site.connectString() + " after " + LIMIT_SECONDS + " s");
        }
        return client;
    }

    /** Curator's methods declare every exception there is. */
    private static void run(Call call) throws InterruptedException {
        try {
            call.run();
        } catch (InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @FunctionalInterface
    private interface Call {
        void run() throws Exception;
    }

    private static final class SemaphoreCycle implements Cycle {
        private final InterProcessSemaphoreV2 semaphore;
        private final int permits;
        private Collection<Lease> leases = List.of();

        SemaphoreCycle(InterProcessSemaphoreV2 semaphore, int permits) {
            this.semaphore = semaphore;
            this.permits = permits;
        }

        @Override
        public void acquire() throws InterruptedException {
            run(() -> leases = semaphore.acquire(permits));
        }

        @Override
        public void release() {
            semaphore.returnAll(leases);
        }
    }
}
