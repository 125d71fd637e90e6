// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The child processes of a test: other JVMs with the class path of this JVM. If one of them fails, the test fails.
 *
 * <pre>{@code
 * try (ChildJvms processes = new ChildJvms()) {
 *     processes.start(Contender.class, server.connectString(), "1");
 *     processes.start(Contender.class, server.connectString(), "2");
 *     processes.join(Duration.ofSeconds(30));
 * }
 * }</pre>
 *
 * <p>Their output goes to the output of this JVM. Their standard input reaches EOF when this JVM ends, or earlier, so a
 * process that reads it can end by itself. Not thread-safe.
 */
public final class ChildJvms implements AutoCloseable {
    /** Options for a small JVM that starts quickly. */
    private static final List<String> OPTIONS = List.of(
            "-Xmx96m",
            "-XX:+IgnoreUnrecognizedVMOptions",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED");

    private final List<Process> processes = new ArrayList<>();

    /** Creates an empty group. */
    public ChildJvms() {}

    /**
     * Starts a process.
     *
     * @throws UncheckedIOException if it cannot be started
     */
    public Process start(Class<?> main, String... arguments) {
        return start(List.of(), main, arguments);
    }

    /** Starts a process with additional options for its JVM. */
    public Process start(List<String> options, Class<?> main, String... arguments) {
        List<String> all = new ArrayList<>(OPTIONS);
        all.addAll(options);
        try {
            Process process = new ProcessBuilder(command(all, main, arguments))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                    .start();
            processes.add(process);
            return process;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + main.getName(), e);
        }
    }

    /**
     * Returns the command line of a JVM with the class path of this JVM. Surefire runs tests from a jar that only
     * refers to the class path, and a system property contains the path itself.
     */
    public static List<String> command(List<String> options, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(options);
        command.add(0, Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-cp");
        command.add(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        command.add(main.getName());
        Collections.addAll(command, arguments);
        return command;
    }

    /**
     * Waits until all processes have ended.
     *
     * @throws AssertionError if a process is still running after that time, or has ended with an exit value other than
     *     0
     */
    public void join(Duration limit) throws InterruptedException {
        Duration stretched = MachineLoad.stretched(limit);
        long end = System.nanoTime() + stretched.toNanos();
        for (Process process : processes) {
            if (!process.waitFor(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                throw new AssertionError("process " + process.pid() + " is still running after " + stretched);
            }
            if (process.exitValue() != 0) {
                throw new AssertionError("process " + process.pid() + " ended with " + process.exitValue());
            }
        }
    }

    /** Kills the processes that are still running, and waits until they have ended. */
    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
        processes.forEach(process -> process.onExit().join());
    }
}
