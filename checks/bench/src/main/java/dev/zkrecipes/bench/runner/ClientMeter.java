// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.runner;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

/**
 * The costs of the threads of this process so far. Threads of the JVM itself are left out: the compiler runs at
 * any time, and the collector's work follows from allocation. The reading thread is left out, too.
 */
public final class ClientMeter {
    private static final ThreadMXBean THREADS = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

    private final Map<Long, Long> processorNanos;
    private final Map<Long, Long> bytes;

    private ClientMeter(long[] ids) {
        this.processorNanos = byThread(ids, THREADS.getThreadCpuTime(ids));
        this.bytes = byThread(ids, THREADS.getThreadAllocatedBytes(ids));
    }

    /** Reads the meters now. */
    public static ClientMeter read() {
        return new ClientMeter(THREADS.getAllThreadIds());
    }

    /** Processor time since then, of the threads alive now. */
    public long processorNanosSince(ClientMeter earlier) {
        return added(processorNanos, earlier.processorNanos);
    }

    /** Bytes allocated since then, by the threads alive now. */
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
            if (values[i] >= 0 && ids[i] != reader) { // -1: it has ended meanwhile
                byThread.put(ids[i], values[i]);
            }
        }
        return byThread;
    }
}
