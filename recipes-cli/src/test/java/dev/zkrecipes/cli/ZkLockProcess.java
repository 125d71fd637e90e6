// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
import java.util.stream.Stream;

/** {@code zklock} from the jar, in a process of its own. */
public final class ZkLockProcess implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Process process;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final List<String> complaints = new CopyOnWriteArrayList<>();
    private final Thread reader;
    private final Thread complaintReader;

    private ZkLockProcess(Process process) {
        this.process = process;
        this.reader = reader(process.inputReader(StandardCharsets.UTF_8), lines);
        this.complaintReader = reader(process.errorReader(StandardCharsets.UTF_8), complaints);
    }

    public static ZkLockProcess start(String... arguments) throws IOException, InterruptedException {
        return startWith("-Dzklock.test", arguments);
    }

    /** With an option of the JVM. */
    public static ZkLockProcess startWith(String option, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(interruptible());
        command.addAll(command());
        command.add(command.size() - 2, option);
        command.addAll(List.of(arguments));
        return new ZkLockProcess(new ProcessBuilder(command).start());
    }

    /**
     * What undoes the ignoring of SIGINT, SIGQUIT and SIGHUP that a process inherits if the build was started in the background or
     * by nohup: a JVM then ignores them too. Only GNU's {@code env} can; elsewhere the build has to be in the foreground.
     */
    public static List<String> interruptible() throws IOException, InterruptedException {
        List<String> reset = List.of("env", "--default-signal=INT,HUP,QUIT");
        Process trial = new ProcessBuilder(
                        Stream.concat(reset.stream(), Stream.of("true")).toList())
                .redirectErrorStream(true)
                .start();
        return trial.waitFor() == 0 ? reset : List.of();
    }

    /** What starts it. */
    public static List<String> command() {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-jar",
                "target/zklock.jar");
    }

    private static Thread reader(BufferedReader output, List<String> sink) {
        Thread thread = new Thread(
                () -> {
                    try (output) {
                        output.lines().forEach(sink::add);
                    } catch (IOException | UncheckedIOException e) {
                        // The process was killed, or the reader let go.
                    }
                },
                "output of zklock");
        thread.start();
        return thread;
    }

    public List<String> lines() {
        return List.copyOf(lines);
    }

    public List<String> complaints() {
        return List.copyOf(complaints);
    }

    public void awaitLine(String part) {
        await().atMost(LIMIT)
                .failFast("it has ended", () -> !process.isAlive() && !reader.isAlive())
                .until(() -> lines.stream().anyMatch(line -> line.contains(part)));
    }

    /** The processes that it has started, as of now. */
    public List<ProcessHandle> children() {
        return process.descendants().toList();
    }

    public void signal(String name) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    /** Returns the exit code, when the output has been read. */
    public int awaitExit() throws InterruptedException {
        assertThat(process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS))
                .as(() -> lines + "\n" + complaints)
                .isTrue();
        reader.join(LIMIT.toMillis());
        complaintReader.join(LIMIT.toMillis());
        return process.exitValue();
    }

    /** Ends what a failed test has left. */
    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
