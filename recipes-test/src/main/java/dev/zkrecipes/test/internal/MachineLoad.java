// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import java.lang.management.ManagementFactory;
import java.time.Duration;

/** How many threads want each processor, by the system's average of the last minute. */
public final class MachineLoad {
    private MachineLoad() {}

    /** Returns 8 if a thread gets an eighth of a processor; 1 on a machine that keeps up, or does not tell. */
    public static double perProcessor() {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        return Math.max(1, load / Runtime.getRuntime().availableProcessors());
    }

    /** Returns how long something takes on this machine now that takes so long on one that keeps up. */
    public static Duration stretched(Duration duration) {
        return Duration.ofNanos((long) (duration.toNanos() * perProcessor()));
    }
}
