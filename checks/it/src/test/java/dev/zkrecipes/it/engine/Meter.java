// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.RequestCounts;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;

/** What this JVM and the server in it have spent since the meter was made. */
final class Meter {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final EmbeddedZooKeeper server;
    private final RequestCounts requests;
    private final long processor;
    private final long begun;

    /** Begins. */
    Meter(EmbeddedZooKeeper server) {
        this.server = server;
        this.requests = server.requests();
        this.processor = processorNanos();
        this.begun = System.nanoTime();
    }

    /** Whether nothing was sent, pings apart, and the processor was idle for nine tenths of the time. */
    boolean isQuiet() {
        long spent = processorNanos() - processor;
        return server.requests().minus(requests).total() == 0 && spent < (System.nanoTime() - begun) / 10;
    }

    /** The processor time of this JVM. */
    static long processorNanos() {
        return SYSTEM.getProcessCpuTime();
    }

    /** The processor time of the engine threads of this JVM, in their lives. */
    static Duration engineTime() {
        long nanos = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("zkrecipes-engine"))
                .mapToLong(thread -> THREADS.getThreadCpuTime(thread.getId()))
                .sum();
        return Duration.ofNanos(nanos);
    }

    /** What the threads that live now have allocated in their lives. */
    static long allocatedBytes() {
        return Arrays.stream(THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds()))
                .filter(bytes -> bytes > 0)
                .sum();
    }

    /** Bytes in use after a collection; several, as what the first one finds unreachable may keep something else. */
    static long liveHeap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
