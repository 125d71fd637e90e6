// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.report;

import com.sun.management.OperatingSystemMXBean;
import dev.zkrecipes.bench.server.Store;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.Version;

/** The origin of the figures, without which they mean nothing. */
public final class Machine {
    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

    private Machine() {}

    /**
     * Machine, versions and command.
     *
     * @param command the command line
     * @param loadBefore the load of the machine before the run
     */
    public static String describe(String command, double loadBefore) {
        OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        List<String> lines = List.of(
                "command: " + command,
                "commit: " + System.getProperty("bench.commit", "unknown"),
                "processor: " + processor() + ", " + system.getAvailableProcessors() + " cores",
                "memory: " + (system.getTotalMemorySize() >> 20) + " MB",
                "system: " + system.getName() + " " + system.getVersion() + " " + system.getArch(),
                "java: " + Runtime.version() + ", " + System.getProperty("java.vm.name"),
                "options of the client's JVM: "
                        + ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                                .filter(option -> !option.startsWith("-Dbench."))
                                .collect(Collectors.joining(" ")),
                "ZooKeeper: " + Version.getVersion(),
                "Curator: " + curator(),
                "data in memory: " + Store.MEMORY.describe(),
                "data on disk: " + Store.DISK.describe(),
                String.format(
                        Locale.ROOT,
                        "load of the machine: %.1f before, %.1f after",
                        loadBefore,
                        system.getSystemLoadAverage()));
        return String.join("\n", lines) + "\n";
    }

    private static String curator() {
        return Optional.ofNullable(CuratorFramework.class.getPackage().getImplementationVersion())
                .orElse("unknown");
    }

    private static String processor() {
        try (Stream<String> lines = Files.lines(PROCESSORS)) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).trim())
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }
}
