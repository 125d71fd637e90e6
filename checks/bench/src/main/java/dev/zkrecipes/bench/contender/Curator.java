// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.ZooKeeper;

/**
 * Apache Curator, used as its documentation says: one mutex for each path, used again and again, the retry policy of
 * "Getting started", and a {@code ConnectionStateListener}, by which work stops at SUSPENDED, continues at RECONNECTED,
 * and is over at LOST. In one point the holder is more careful than the documentation asks: if LOST was reported while
 * the request waited, the holder does not believe the grant.
 *
 * <p>Curator offers neither token nor guard. A subclass of its mutex can read the path of the holder's node; its number
 * serves as the token, and a check that the node exists serves as the guard.
 */
final class Curator implements LockClient {
    private final CuratorFramework client;
    private final Map<String, Mutex> mutexes = new ConcurrentHashMap<>();
    private final AtomicLong losses = new AtomicLong();
    private volatile boolean connected = true;

    Curator(String connectString, Duration sessionTimeout) {
        int session = (int) sessionTimeout.toMillis();
        client = CuratorFrameworkFactory.newClient(
                connectString, session, session, new ExponentialBackoffRetry(1_000, 3));
        client.getConnectionStateListenable().addListener((framework, state) -> {
            if (state == ConnectionState.LOST) {
                losses.incrementAndGet();
            }
            connected = state.isConnected();
        });
        client.start();
    }

    @Override
    public Cycle cycle(Work work, int size, String path) {
        if (work == Work.SEMAPHORE) {
            InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, path, size);
            return () -> {
                Collection<Lease> leases = semaphore.acquire(size); // one by one
                return () -> semaphore.returnAll(leases);
            };
        }
        if (work == Work.NEW_PATH) {
            Supplier<String> paths = Work.newPaths(path);
            return () -> acquire(new InterProcessMutex(client, paths.get()));
        }
        InterProcessLock lock = work == Work.MULTI_LOCK
                ? new InterProcessMultiLock(client, Work.paths(path, size))
                : new InterProcessMutex(client, path);
        return () -> acquire(lock);
    }

    private static AutoCloseable acquire(InterProcessLock lock) throws Exception {
        lock.acquire();
        return lock::release;
    }

    @Override
    public Turn acquire(String path) throws Exception {
        long before = losses.get();
        Mutex mutex = mutexes.computeIfAbsent(path, any -> new Mutex(client, path));
        mutex.acquire();
        return Turn.on(mutex.getLockPath(), () -> connected && losses.get() == before, mutex::release);
    }

    @Override
    public ZooKeeper handle() throws Exception {
        return client.getZookeeperClient().getZooKeeper();
    }

    @Override
    public void close() {
        client.close();
    }

    private static final class Mutex extends InterProcessMutex {
        Mutex(CuratorFramework client, String path) {
            super(client, path);
        }

        @Override
        protected String getLockPath() {
            return super.getLockPath();
        }
    }
}
