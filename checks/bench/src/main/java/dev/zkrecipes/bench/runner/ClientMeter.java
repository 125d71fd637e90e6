// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.runner;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

/**
 * The processor time and the allocations of the threads of this process so far. Threads of the JVM itself are left out:
 * the JIT compiler runs at any time, and the work of the garbage collector follows from the allocations. The thread
 * that reads the meters is left out, too.
 */
public final class ClientMeter {
    private static final ThreadMXBean THREADS = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

    private final Map<Long, Long> processorNanos;
    private final Map<Long, Long> bytes;

    private ClientMeter(long[] ids) {
        this.processorNanos = byThread(ids, THREADS.getThreadCpuTime(ids));
        this.bytes = byThread(ids, THREADS.getThreadAllocatedBytes(ids));
    }

    /** Reads the processor time and the allocations of all threads now. */
    public static ClientMeter read() {
        return new ClientMeter(THREADS.getAllThreadIds());
    }

    /**
     * Returns the processor time, in nanoseconds, that the threads of this reading have used since an earlier reading.
     */
    public long processorNanosSince(ClientMeter earlier) {
        return added(processorNanos, earlier.processorNanos);
    }

    /** Returns the bytes that the threads of this reading have allocated since an earlier reading. */
    public long bytesSince(ClientMeter earlier) {
        return added(bytes, earlier.bytes);
    }

    private static long added(Map<Long, Long> now, Map<Long, Long> earlier) {
        return now.entrySet().stream()
                .mapToLong(thread -> thread.getValue() - earlier.getOrDefault(thread.getKey(), 0L))
                .sum();
    }

    private static Map<Long, Long> byThread(long[] ids, long[] values) {
        Map<Long, Long> byThread = new HashMap<>();
        long reader = Thread.currentThread().getId();
        for (int i = 0; i < ids.length; i++) {
            if (values[i] >= 0 && ids[i] != reader) { // -1 if the thread has ended meanwhile
                byThread.put(ids[i], values[i]);
            }
        }
        return byThread;
    }
}
