// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.micro;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Acquiring once more what the thread holds, and giving that back; ours and Curator's. The first hold needs the server.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class ReentryBenchmark {
    private EmbeddedZooKeeper server;
    private ZooKeeperClient client;
    private InterProcessMutex mutex;
    private Lease held;
    private CuratorFramework curator;
    private org.apache.curator.framework.recipes.locks.InterProcessMutex curators;

    /** Takes both locks. */
    @Setup
    public void acquire() throws Exception {
        server = EmbeddedZooKeeper.start();
        client = TestClients.connect(server.connectString(), TestClients.LONG_SESSION);
        mutex = new InterProcessMutex(client, "/bench/ours");
        held = mutex.acquire();
        curator = CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(100));
        curator.start();
        curators = new org.apache.curator.framework.recipes.locks.InterProcessMutex(curator, "/bench/curators");
        curators.acquire();
    }

    /** Gives both back. */
    @TearDown
    public void release() throws Exception {
        curators.release();
        curator.close();
        held.close();
        client.close();
        server.close();
    }

    /** By the lease. */
    @Benchmark
    public void acquireAndClose() throws InterruptedException {
        mutex.acquire().close();
    }

    /** By the lock. */
    @Benchmark
    public void acquireAndRelease() throws InterruptedException {
        Lease again = mutex.acquire();
        mutex.release();
        assert again.state() == dev.zkrecipes.core.LeaseState.RELEASED;
    }

    /** Curator's. */
    @Benchmark
    public void curator() throws Exception {
        curators.acquire();
        curators.release();
    }
}
