// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.zkrecipes.cli.ZkLockProcess;
import dev.zkrecipes.test.internal.Lateness;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** {@code zklock demo} from the jar, in a process and a folder for temporary files of its own. */
final class RunningDemo implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(90);
    /** Half of what the demo allows the machine for a take-over. */
    private static final Duration LATE = Duration.ofMillis(500);

    private final Process process;
    private final Thread reader;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Lateness lateness = Lateness.measure();

    private RunningDemo(Process process) {
        this.process = process;
        this.reader = new Thread(this::read, "demo's output");
    }

    static RunningDemo start(Path temporary, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(ZkLockProcess.interruptible());
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Djava.io.tmpdir=" + temporary,
                "-jar",
                "target/zklock.jar",
                "demo"));
        command.addAll(List.of(arguments));
        RunningDemo demo = new RunningDemo(
                new ProcessBuilder(command).redirectErrorStream(true).start());
        demo.reader.start();
        return demo;
    }

    List<String> lines() {
        return List.copyOf(lines);
    }

    /** The same without what it rightly says of a slow machine: that a connection takes long, that a worker came late. */
    List<String> linesOfAFastMachine() {
        return lines.stream()
                .filter(line -> !line.contains("Not connected to ZooKeeper") && !line.contains("was held up"))
                .toList();
    }

    /** Whether it failed only because the next holder came too late, on a machine that was late itself. */
    boolean wasHeldUp() {
        return lines.stream().anyMatch(line -> line.startsWith("  FAILED  take-over"))
                && lines.stream().anyMatch(line -> line.startsWith("FAILED: 1 of "))
                && lateness.soFar().compareTo(LATE) > 0;
    }

    void awaitLine(String part) {
        await().atMost(LIMIT)
                .failFast("the demo has ended", () -> !process.isAlive())
                .until(() -> lines.stream().anyMatch(line -> line.contains(part)));
    }

    /** The demo's children as of now. */
    List<ProcessHandle> children() {
        return process.descendants().toList();
    }

    /** Ctrl-C, which a terminal sends to all processes in the foreground. */
    void interruptAll() throws IOException, InterruptedException {
        List<ProcessHandle> children = children();
        interrupt(process.toHandle());
        for (ProcessHandle child : children) {
            interrupt(child);
        }
    }

    /** A child may have ended by itself, as one does that the demo has killed. */
    private static void interrupt(ProcessHandle each) throws IOException, InterruptedException {
        int code = new ProcessBuilder("kill", "-INT", String.valueOf(each.pid()))
                .start()
                .waitFor();
        assertThat(code == 0 || !each.isAlive())
                .as("%s is interrupted, or gone", each)
                .isTrue();
    }

    void kill() {
        process.destroyForcibly();
    }

    /** Returns the exit code, when the output has been read. */
    int awaitExit() throws InterruptedException {
        assertThat(process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS))
                .as(() -> String.join("\n", lines))
                .isTrue();
        reader.join(LIMIT.toMillis());
        return process.exitValue();
    }

    /** Ends what a failed test has left. */
    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        lateness.close();
    }

    private void read() {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            output.lines().forEach(lines::add);
        } catch (IOException | UncheckedIOException e) {
            // The process was killed.
        }
    }
}
