// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** Frameworks of Curator's for tests, whose sessions end only when the test ends them, and their mutexes. */
final class Curators {
    private Curators() {}

    static CuratorFramework connect(EmbeddedZooKeeper server) throws InterruptedException {
        return connected(settings(server).build());
    }

    /** For a session that ends only when the test ends it, unless it is given another time-out. */
    static CuratorFrameworkFactory.Builder settings(EmbeddedZooKeeper server) {
        return CuratorFrameworkFactory.builder()
                .connectString(server.connectString())
                .sessionTimeoutMs((int) TestClients.LONG_SESSION.toMillis())
                .connectionTimeoutMs(15_000)
                .retryPolicy(new RetryOneTime(100));
    }

    /** Starts it, and returns when it is connected. */
    static CuratorFramework connected(CuratorFramework curator) throws InterruptedException {
        curator.start();
        assertThat(curator.blockUntilConnected(20, TimeUnit.SECONDS)).isTrue();
        return curator;
    }

    static InterProcessLock mutex(CuratorFramework curator, String path) {
        return new InterProcessMutex(curator, path);
    }
}
