// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.micro;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.util.concurrent.TimeUnit;
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
 * An uncontended acquire and close, all of the engine and nothing else: no network, no change of threads, no client of
 * ZooKeeper's. With JMH's {@code gc} profiler it tells what the engine allocates for it; the stand-in server's
 * two lists of names, node metadata and answers are in that.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class AcquireBenchmark {
    private ZooKeeperClient client;
    private InterProcessMutex mutex;

    /** Makes a client of a server that answers at once. */
    @Setup
    public void connect() {
        ThreadlessScheduler scheduler = new ThreadlessScheduler();
        client = Ports.clientBuilder(InstantServer.on(scheduler), scheduler).build();
        mutex = new InterProcessMutex(client, "/bench/acquire");
    }

    /** Closes it. */
    @TearDown
    public void close() {
        client.close();
    }

    /** One cycle. */
    @Benchmark
    public void acquireAndClose() throws InterruptedException {
        mutex.acquire().close();
    }
}
