// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.time.Duration;
import org.apache.zookeeper.ZooKeeper;

/** A process that holds two locks by two threads until it is ended, and never releases them itself. */
final class HoldingProcess {
    private HoldingProcess() {}

    /**
     * Acquires the locks.
     *
     * @param arguments connect string, path, "own" or "wrapped" handle, "hook" or "none"
     */
    public static void main(String[] arguments) throws Exception {
        String connectString = arguments[0];
        String path = arguments[1];
        ZooKeeperClientBuilder builder = ZooKeeperClient.builder();
        if (arguments[2].equals("own")) {
            builder.connectString(connectString).sessionTimeout(Duration.ofSeconds(30));
        } else {
            builder.handle(new ZooKeeper(connectString, 30_000, event -> {}));
        }
        if (arguments[3].equals("hook")) {
            builder.closeOnShutdown();
        }
        ZooKeeperClient client = builder.build();
        for (String name : new String[] {"/a", "/b"}) {
            new Thread(() -> hold(new InterProcessMutex(client, path + name))).start();
        }
    }

    private static void hold(InterProcessMutex mutex) {
        try {
            mutex.acquire();
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
