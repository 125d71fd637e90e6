// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.explore.sim.Choices;
import dev.zkrecipes.explore.sim.Simulation;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.lang.management.ManagementFactory;
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

    @Test
    void uncontendedCycle_allocatesNoMoreThanItNeeds() throws InterruptedException {
        try (ZooKeeperClient client = HandOverBenchmark.clientOf(new Simulation(Choices.replay(new int[0])))) {
            InterProcessMutex mutex = new InterProcessMutex(client, "/bench/acquire");
            assertThat(allocatedBy(() -> mutex.acquire().close())).isLessThanOrEqualTo(MOST_BYTES_OF_A_CYCLE);
        }
    }

    @Test
    void handOverInsideTheProcess_allocatesNoMoreThanItNeeds() throws InterruptedException {
        HandOverBenchmark benchmark = new HandOverBenchmark();
        benchmark.hold();
        assertThat(allocatedBy(benchmark::passOn)).isLessThanOrEqualTo(MOST_BYTES_OF_A_HAND_OVER);
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
