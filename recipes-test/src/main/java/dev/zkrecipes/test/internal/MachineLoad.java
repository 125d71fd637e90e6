// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import java.lang.management.ManagementFactory;
import java.time.Duration;

/**
 * The number of threads that compete for each processor of this machine, by the system's average over the last minute.
 */
public final class MachineLoad {
    private MachineLoad() {}

    /**
     * Returns the number of threads for each processor, for example 8 if a thread gets an eighth of a processor.
     * Returns 1 on a machine that keeps up, or whose load is unknown.
     */
    public static double perProcessor() {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        return Math.max(1, load / Runtime.getRuntime().availableProcessors());
    }

    /**
     * Returns how long an operation takes under the present load if it takes {@code duration} on a machine that keeps
     * up.
     */
    public static Duration stretched(Duration duration) {
        return Duration.ofNanos((long) (duration.toNanos() * perProcessor()));
    }
}
