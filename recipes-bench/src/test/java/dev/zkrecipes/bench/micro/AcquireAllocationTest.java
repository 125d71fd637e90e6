// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.micro;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the engine allocates for an acquire and a close with nobody else there, and the stand-in of the server with it. */
class AcquireAllocationTest {
    private static final int CYCLES = 200;
    private static final int RUNS = 20;

    /** Somewhat above what it takes while nothing is compiled; compiled, it takes a little less. */
    private static final int MOST_BYTES = 5_400;

    private final AcquireBenchmark cycle = new AcquireBenchmark();

    @BeforeEach
    void connect() throws InterruptedException {
        cycle.connect();
        cycle.acquireAndClose();
    }

    @AfterEach
    void close() {
        cycle.close();
    }

    @Test
    void uncontendedCycle_allocatesNoMoreThanItNeeds() throws InterruptedException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        long least = Long.MAX_VALUE; // of several runs: what the JVM does once by the way is not in all of them
        for (int run = 0; run < RUNS; run++) {
            long before = threads.getThreadAllocatedBytes(self);
            for (int i = 0; i < CYCLES; i++) {
                cycle.acquireAndClose();
            }
            least = Math.min(least, (threads.getThreadAllocatedBytes(self) - before) / CYCLES);
        }
        assertThat(least).isLessThanOrEqualTo(MOST_BYTES);
    }
}
