// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.micro;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the engine allocates, and the stand-in of the server with it. */
class AllocationTest {
    private static final int CYCLES = 200;
    private static final int RUNS = 20;

    /** Somewhat above what it takes while nothing is compiled; compiled, it takes a little less. */
    private static final int MOST_BYTES_OF_A_CYCLE = 6_000;

    /** Likewise. One exception with its stack trace takes more than twice as much. */
    private static final int MOST_BYTES_OF_A_HAND_OVER = 1_400;

    private final AcquireBenchmark acquiring = new AcquireBenchmark();
    private final HandOverBenchmark handingOver = new HandOverBenchmark();

    private interface Cycle {
        void run() throws InterruptedException;
    }

    @BeforeEach
    void begin() {
        acquiring.connect();
        handingOver.hold();
    }

    @AfterEach
    void close() {
        acquiring.close();
        handingOver.close();
    }

    @Test
    void uncontendedCycle_allocatesNoMoreThanItNeeds() throws InterruptedException {
        assertThat(allocatedBy(acquiring::acquireAndClose)).isLessThanOrEqualTo(MOST_BYTES_OF_A_CYCLE);
    }

    @Test
    void handOverInsideTheProcess_allocatesNoMoreThanItNeeds() throws InterruptedException {
        assertThat(allocatedBy(handingOver::passOn)).isLessThanOrEqualTo(MOST_BYTES_OF_A_HAND_OVER);
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
