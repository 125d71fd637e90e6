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
 * Measures two things that happen inside one process. One is a hand-over: the next asynchronous request queues behind
 * the holder, the holder closes its lease, and the request has the lock. The other is a cycle of a lock that stays in
 * the process between its holders: one thread acquires and releases it. Neither includes a network or a change of
 * threads, because the explorer's simulation takes the place of the engine's thread, the clock and the server. The
 * server creates another node only after 2,047 hand-overs.
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

    /** Creates a client of a simulated server, which takes no real time to answer, and acquires the lock. */
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

    /** Closes the client. */
    @TearDown
    public void close() {
        client.close();
    }

    /** Hands the lock over to the next request. */
    @Benchmark
    public void passOn() {
        CompletableFuture<Lease> next = mutex.acquireAsync();
        held.close();
        held = granted(next);
    }

    /** Acquires and releases a lock that stays in the process. */
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
