// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import com.google.common.base.Splitter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Whether processes still run. Java takes a process for alive until its parent has asked for its exit code, which some
 * parents never do: a process 1 that is not made to be one, for example zklock's JVM in a container. On Linux the state
 * of the process tells.
 */
final class Liveness {
    private static final Duration LOOK_AGAIN = Duration.ofMillis(20);
    /** Where the state and the number of threads stand behind the name. */
    private static final int STATE = 0;

    private static final int THREADS = 17;

    private Liveness() {}

    static boolean isRunning(ProcessHandle process) {
        return process.isAlive() && !stat(process.pid()).map(Liveness::isDead).orElse(false);
    }

    /** Waits for their end, but no longer than that. Returns those that still run. */
    static Set<ProcessHandle> runningAfter(Duration limit, Set<ProcessHandle> processes) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        Set<ProcessHandle> left = running(processes);
        while (!left.isEmpty() && System.nanoTime() < deadline) {
            TimeUnit.NANOSECONDS.sleep(LOOK_AGAIN.toNanos());
            left = running(left);
        }
        return left;
    }

    private static Set<ProcessHandle> running(Set<ProcessHandle> processes) {
        return processes.stream().filter(Liveness::isRunning).collect(Collectors.toSet());
    }

    /**
     * Reads a line of {@code /proc/PID/stat}. The name in it may contain anything, brackets too. A process whose first
     * thread has ended but not the others has the state of a dead one.
     */
    static boolean isDead(String stat) {
        List<String> fields =
                Splitter.on(' ').omitEmptyStrings().splitToList(stat.substring(stat.lastIndexOf(')') + 1));
        return fields.size() > THREADS
                && (fields.get(STATE).equals("Z") || fields.get(STATE).equalsIgnoreCase("X"))
                && (fields.get(THREADS).equals("0") || fields.get(THREADS).equals("1"));
    }

    /** Empty where there is no such file. */
    private static Optional<String> stat(long pid) {
        try {
            return Optional.of(
                    Files.readString(Path.of("/proc", String.valueOf(pid), "stat"), StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
