// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import org.apache.zookeeper.ZooKeeper;

/** A process that holds two locks by each of three clients until it is ended, and never releases them itself. */
final class HoldingProcess {
    /** The locks: of a client with a hook, of one with a hook that wraps a handle, and of one without. */
    static final List<String> PLACES = List.of("/own-a", "/own-b", "/wrapped-a", "/wrapped-b", "/none-a", "/none-b");

    private HoldingProcess() {}

    /**
     * Acquires the locks, each by a thread.
     *
     * @param arguments connect string, path
     */
    public static void main(String[] arguments) throws Exception {
        String connectString = arguments[0];
        Duration timeout = Duration.ofSeconds(30);
        ZooKeeperClient own = ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(timeout)
                .closeOnShutdown()
                .build();
        ZooKeeperClient wrapped = ZooKeeperClient.builder()
                .handle(new ZooKeeper(connectString, (int) timeout.toMillis(), event -> {}))
                .closeOnShutdown()
                .build();
        ZooKeeperClient none = ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(timeout)
                .build();
        Iterator<ZooKeeperClient> clients =
                List.of(own, own, wrapped, wrapped, none, none).iterator();
        for (String name : PLACES) {
            InterProcessMutex mutex = new InterProcessMutex(clients.next(), arguments[1] + name);
            new Thread(() -> hold(mutex)).start();
        }
    }

    private static void hold(InterProcessMutex mutex) {
        try {
            mutex.acquire();
            Thread.currentThread().join(); // until the process ends
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
