// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.jmh;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.explore.sim.Choices;
import dev.zkrecipes.explore.sim.SimulatedScheduler;
import dev.zkrecipes.explore.sim.SimulatedZooKeeper;
import dev.zkrecipes.explore.sim.Simulation;
import dev.zkrecipes.handoff.HandoffMutex;
import java.time.Duration;
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
 * Inside the process. A hand-over: the next asynchronous request queues behind the holder, the holder closes its lease,
 * and the request has the lock. A cycle of a lock that is kept: a thread alone acquires and releases it. No network and
 * no change of threads: the explorer's simulation is the thread, the clock and the server, which is asked for another
 * node after 2,047 hand-overs.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class HandOverBenchmark {
    private static final Duration SESSION = Duration.ofSeconds(30);

    private final Simulation simulation = new Simulation(Choices.replay(new int[0]));
    private ZooKeeperClient client;
    private HandoffMutex mutex;
    private HandoffMutex kept;
    private Lease held;

    /** Makes a client of a server that answers at once, and holds the lock. */
    @Setup
    public void hold() {
        client = clientOf(simulation);
        mutex = new HandoffMutex(client, "/bench/hand-over", HandoffMutex.MOST_HANDOFFS);
        kept = new HandoffMutex(client, "/bench/kept", 64).keepFor(SESSION);
        held = granted(mutex.acquireAsync());
    }

    static ZooKeeperClient clientOf(Simulation simulation) {
        SimulatedScheduler scheduler = new SimulatedScheduler(simulation, 1, HandOverBenchmark::fail);
        SimulatedZooKeeper server = new SimulatedZooKeeper(simulation, SESSION, SESSION.dividedBy(20));
        return Ports.clientBuilder(server.process(scheduler, "benchmark"), scheduler)
                .callbackExecutor(Runnable::run)
                .build();
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

    /** One cycle of a lock that is kept. */
    @Benchmark
    public void keep() throws InterruptedException {
        kept.acquire().close();
    }

    private Lease granted(CompletableFuture<Lease> asked) {
        while (!asked.isDone()) {
            simulation.step(Long.MAX_VALUE);
        }
        return asked.join();
    }

    private static void fail(Throwable e) {
        throw new IllegalStateException(e);
    }
}
