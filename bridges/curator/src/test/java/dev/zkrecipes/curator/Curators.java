// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** Frameworks of Curator's for tests, with a session time-out of 4 s, and their mutexes. */
final class Curators {
    private Curators() {}

    static CuratorFramework connect(EmbeddedZooKeeper server) throws InterruptedException {
        CuratorFramework curator =
                CuratorFrameworkFactory.newClient(server.connectString(), 4000, 5000, new RetryOneTime(100));
        curator.start();
        assertThat(curator.blockUntilConnected(20, TimeUnit.SECONDS)).isTrue();
        return curator;
    }

    static InterProcessLock mutex(CuratorFramework curator, String path) {
        return new InterProcessMutex(curator, path);
    }
}
