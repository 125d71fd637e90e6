// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.micro;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.handoff.HandoffMutex;
import java.util.concurrent.CompletableFuture;
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
 * A hand-over inside the process: the next asynchronous request queues behind the holder, the holder closes its lease,
 * and the request has the lock. No network and no change of threads. After 2,047 of them the engine makes another node,
 * at a server that answers at once; that is in the figure.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class HandOverBenchmark {
    private final ThreadlessScheduler scheduler = new ThreadlessScheduler();
    private ZooKeeperClient client;
    private HandoffMutex mutex;
    private Lease held;

    /** Makes a client of a server that answers at once, and holds the lock. */
    @Setup
    public void hold() {
        client = Ports.clientBuilder(InstantServer.on(scheduler), scheduler)
                .callbackExecutor(Runnable::run)
                .build();
        mutex = new HandoffMutex(client, "/bench/hand-over", HandoffMutex.MOST_HANDOFFS);
        held = granted(mutex.acquireAsync());
    }

    /** Closes it. */
    @TearDown
    public void close() {
        client.close();
    }

    /** One hand-over. */
    @Benchmark
    public void passOn() {
        CompletableFuture<Lease> next = mutex.acquireAsync();
        held.close();
        held = granted(next);
    }

    private Lease granted(CompletableFuture<Lease> asked) {
        scheduler.runAll();
        return asked.getNow(null); // null would fail the next hand-over
    }
}
