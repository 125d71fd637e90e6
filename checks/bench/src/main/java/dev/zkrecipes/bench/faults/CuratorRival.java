// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.ZooKeeper;

/**
 * Apache Curator as its pages say: one mutex for each path, used again and again, the retry policy of "Getting
 * started", and a {@code ConnectionStateListener}, by which work stops at SUSPENDED, continues at RECONNECTED, and is
 * over at LOST. One step further than its pages, a lock that was granted although LOST was reported while it waited
 * is not believed.
 *
 * <p>Curator offers neither token nor guard. A subclass may learn the path of its node; that serves as both.
 */
final class CuratorRival implements Rival {
    private final CuratorFramework curator;
    private final Map<String, Mutex> mutexes = new ConcurrentHashMap<>();
    private final AtomicLong losses = new AtomicLong();
    private volatile boolean connected = true;

    CuratorRival(String connectString, Duration sessionTimeout) {
        int session = (int) sessionTimeout.toMillis();
        curator = CuratorFrameworkFactory.newClient(
                connectString, session, session, new ExponentialBackoffRetry(1_000, 3));
        curator.getConnectionStateListenable().addListener((framework, state) -> {
            if (state == ConnectionState.LOST) {
                losses.incrementAndGet();
            }
            connected = state.isConnected();
        });
        curator.start();
    }

    @Override
    public Turn acquire(String path) throws Exception {
        long before = losses.get();
        Mutex mutex = mutexes.computeIfAbsent(path, any -> new Mutex(curator, path));
        mutex.acquire();
        return Turn.on(mutex.getLockPath(), () -> connected && losses.get() == before, mutex::release);
    }

    @Override
    public ZooKeeper handle() throws Exception {
        return curator.getZookeeperClient().getZooKeeper();
    }

    @Override
    public void close() {
        curator.close();
    }

    private static final class Mutex extends InterProcessMutex {
        Mutex(CuratorFramework curator, String path) {
            super(curator, path);
        }

        @Override
        protected String getLockPath() {
            return super.getLockPath();
        }
    }
}
