// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.time.Duration;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/** This library: its lease is asked before each write. */
final class OurRival implements Rival {
    private final ZooKeeperClient client;

    OurRival(String connectString, Duration sessionTimeout) {
        client = ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(sessionTimeout)
                .build();
    }

    @Override
    public Turn acquire(String path) throws InterruptedException {
        Lease lease = new InterProcessMutex(client, path).acquire();
        try {
            Op guard = lease.guard();
            return new Turn(guard.getPath(), lease.fencingToken(), guard, lease::isValid, lease);
        } catch (LockLostException e) {
            lease.close();
            throw e;
        }
    }

    @Override
    public ZooKeeper handle() {
        return client.zooKeeper().orElseThrow();
    }

    @Override
    public void close() {
        client.close();
    }
}
