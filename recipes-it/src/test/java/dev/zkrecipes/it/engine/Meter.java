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
    private final boolean countsHeap;
    private final long heap;
    private final RequestCounts requests;
    private final long processor;
    private final long begun;

    /**
     * What was spent.
     *
     * @param liveBytes what the heap has grown by, garbage apart
     */
    record Reading(long liveBytes, double processorSeconds, double seconds, RequestCounts requests) {
        long liveMegabytes() {
            return liveBytes >> 20;
        }
    }

    /**
     * Begins.
     *
     * @param countsHeap whether to collect garbage now and when it is read, which takes a while
     */
    Meter(EmbeddedZooKeeper server, boolean countsHeap) {
        this.server = server;
        this.countsHeap = countsHeap;
        this.heap = countsHeap ? liveHeap() : 0;
        this.requests = server.requests();
        this.processor = SYSTEM.getProcessCpuTime();
        this.begun = System.nanoTime();
    }

    /** Whether nothing was sent, pings apart, and the processor was idle for nine tenths of the time. */
    boolean isQuiet() {
        long spent = SYSTEM.getProcessCpuTime() - processor;
        return server.requests().minus(requests).total() == 0 && spent < (System.nanoTime() - begun) / 10;
    }

    Reading read() {
        long ended = System.nanoTime();
        long spent = SYSTEM.getProcessCpuTime() - processor;
        RequestCounts sent = server.requests().minus(requests);
        return new Reading(countsHeap ? liveHeap() - heap : 0, spent / 1e9, (ended - begun) / 1e9, sent);
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
