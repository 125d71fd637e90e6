// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/** Handles of ZooKeeper's own client. */
public final class Handles {
    /** Long enough that a turn sends only work, and no pings. */
    static final int SESSION_MILLIS = 60_000;

    private static final int LIMIT_SECONDS = 20;

    private Handles() {}

    /** A connected handle. */
    public static ZooKeeper connect(String connectString) throws InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper zooKeeper = open(connectString, connected);
        if (!connected.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            zooKeeper.close();
            throw new IllegalStateException("not connected to " + connectString + " after " + LIMIT_SECONDS + " s");
        }
        return zooKeeper;
    }

    /** A handle that counts down once it is connected. */
    public static ZooKeeper open(String connectString, CountDownLatch connected) {
        try {
            return new ZooKeeper(connectString, SESSION_MILLIS, event -> {
                if (event.getState() == KeeperState.SyncConnected) {
                    connected.countDown();
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
