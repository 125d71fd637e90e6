// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.explore.sim.Choices;
import dev.zkrecipes.explore.sim.SimulatedScheduler;
import dev.zkrecipes.explore.sim.SimulatedZooKeeper;
import dev.zkrecipes.explore.sim.Simulation;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the engine allocates, and the simulation of its thread and server with it. */
class AllocationTest {
    private static final int CYCLES = 200;
    private static final int RUNS = 20;

    /** Somewhat above what it takes while nothing is compiled; compiled, it takes a little less. */
    private static final int MOST_BYTES_OF_A_CYCLE = 12_800;

    /** Likewise. One exception with its stack trace takes more than twice as much. */
    private static final int MOST_BYTES_OF_A_HAND_OVER = 1_400;

    private interface Cycle {
        void run() throws InterruptedException;
    }

    private static final Duration SESSION = Duration.ofSeconds(30);

    private final Simulation simulation = new Simulation(Choices.replay(new int[0]));
    private final SimulatedScheduler scheduler = new SimulatedScheduler(simulation, 1, failure -> {
        throw new IllegalStateException(failure);
    });
    private final ZooKeeperClient client = Ports.clientBuilder(
                    new SimulatedZooKeeper(simulation, SESSION, SESSION.dividedBy(20)).process(scheduler, "one"),
                    scheduler)
            .callbackExecutor(Runnable::run)
            .build();

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void uncontendedCycle_allocatesNoMoreThanItNeeds() throws InterruptedException {
        InterProcessMutex mutex = new InterProcessMutex(client, "/bench/acquire");
        assertThat(allocatedBy(() -> mutex.acquire().close())).isLessThanOrEqualTo(MOST_BYTES_OF_A_CYCLE);
    }

    /** The next asynchronous request queues behind the holder, who closes its lease, and the request has the lock. */
    @Test
    void handOverInsideTheProcess_allocatesNoMoreThanItNeeds() throws InterruptedException {
        HandoffMutex mutex = new HandoffMutex(client, "/bench/hand-over", HandoffMutex.MOST_HANDOFFS);
        Lease[] held = {granted(mutex.acquireAsync())};
        Cycle handOver = () -> {
            CompletableFuture<Lease> next = mutex.acquireAsync();
            held[0].close();
            held[0] = granted(next);
        };
        assertThat(allocatedBy(handOver)).isLessThanOrEqualTo(MOST_BYTES_OF_A_HAND_OVER);
    }

    private Lease granted(CompletableFuture<Lease> asked) {
        while (!asked.isDone()) {
            simulation.step(Long.MAX_VALUE);
        }
        return asked.join();
    }

    /** By one cycle, in the best of several runs: what the JVM does once by the way is not in all of them. */
    private static long allocatedBy(Cycle cycle) throws InterruptedException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        long least = Long.MAX_VALUE;
        for (int run = 0; run < RUNS; run++) {
            long before = threads.getThreadAllocatedBytes(self);
            for (int i = 0; i < CYCLES; i++) {
                cycle.run();
            }
            least = Math.min(least, (threads.getThreadAllocatedBytes(self) - before) / CYCLES);
        }
        return least;
    }
}
