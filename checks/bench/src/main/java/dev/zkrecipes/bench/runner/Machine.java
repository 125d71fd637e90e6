// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.runner;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.Version;

/** Describes the machine and the versions that a measurement ran on: without them, figures mean nothing. */
public final class Machine {
    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private Machine() {}

    /** Returns the average load of this machine over the last minute. */
    public static double load() {
        return SYSTEM.getSystemLoadAverage();
    }

    /** The processor time of this JVM so far. */
    public static Duration processorTime() {
        return Duration.ofNanos(SYSTEM.getProcessCpuTime());
    }

    /**
     * Returns lines about the command, the machine, the versions and the stores.
     *
     * @param command the command line
     * @param stores the stores that the servers used
     * @param loadBefore the load of the machine before the run
     */
    public static String describe(String command, List<Store> stores, double loadBefore) {
        List<String> lines = new ArrayList<>(List.of(
                "command: " + command,
                "commit: " + System.getProperty("bench.commit", "unknown"),
                "processor: " + processor() + ", " + SYSTEM.getAvailableProcessors() + " cores",
                "memory: " + (SYSTEM.getTotalMemorySize() >> 20) + " MB",
                "system: " + SYSTEM.getName() + " " + SYSTEM.getVersion() + " " + SYSTEM.getArch(),
                "java: " + Runtime.version() + ", " + System.getProperty("java.vm.name"),
                "ZooKeeper: " + Version.getVersion(),
                "Curator: "
                        + Optional.ofNullable(
                                        CuratorFramework.class.getPackage().getImplementationVersion())
                                .orElse("unknown")));
        stores.forEach(store -> lines.add(store.describe()));
        lines.add(String.format(Locale.ROOT, "load of the machine: %.1f before, %.1f after", loadBefore, load()));
        return String.join("\n", lines) + "\n";
    }

    private static String processor() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).trim())
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }
}
