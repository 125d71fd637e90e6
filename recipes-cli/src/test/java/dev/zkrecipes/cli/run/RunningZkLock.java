// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.zkrecipes.cli.Tool;
import dev.zkrecipes.cli.ZkLockProcess;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** {@code zklock} from the jar, in a process of its own. Its output goes to files of the test. */
final class RunningZkLock implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(90);

    private final Process process;
    private final Path out;
    private final Path err;

    private RunningZkLock(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /** The launcher, as users start it. */
    static final Path LAUNCHER = Path.of("../bin/zklock").toAbsolutePath().normalize();

    static List<String> commandLine(String... arguments) throws IOException, InterruptedException {
        Tool.PERL.require();
        List<String> command = new ArrayList<>(ZkLockProcess.interruptible());
        command.add(LAUNCHER.toString());
        command.addAll(List.of(arguments));
        return command;
    }

    /** The jar and the JVM of this build, and nothing else of {@code zklock}'s. */
    static void prepare(Map<String, String> environment) {
        environment.keySet().removeIf(name -> name.startsWith("ZKLOCK_"));
        environment.put(
                "ZKLOCK_JAR", Path.of("target/zklock.jar").toAbsolutePath().toString());
        environment.put("JAVA_HOME", System.getProperty("java.home"));
    }

    /** With this server in its environment. */
    static RunningZkLock start(Path folder, EmbeddedZooKeeper server, String... arguments)
            throws IOException, InterruptedException {
        return start(folder, Map.of("ZKLOCK_CONNECT", server.connectString()), arguments);
    }

    static RunningZkLock start(Path folder, Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        return start(folder, environment, commandLine(arguments));
    }

    /** Like process 1 of a container: orphans become its children, and it does not ask for their exit codes. */
    static RunningZkLock startAsReaper(Path folder, EmbeddedZooKeeper server, String... arguments)
            throws IOException, InterruptedException {
        Tool.PERL.require();
        int prctl = System.getProperty("os.arch").equals("aarch64") ? 167 : 157;
        String becomeSubreaper = "syscall(" + prctl + ", 36, 1, 0, 0, 0) == 0 or die; exec { $ARGV[0] } @ARGV";
        List<String> command = new ArrayList<>(List.of("perl", "-e", becomeSubreaper, "--"));
        command.addAll(commandLine(arguments));
        return start(folder, Map.of("ZKLOCK_CONNECT", server.connectString()), command);
    }

    /** Started by a shell, which runs a script first that starts it with {@code "$@"}. */
    static RunningZkLock startBy(Path folder, Map<String, String> environment, String script, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(List.of("/bin/bash", "-c", script, "bash", LAUNCHER.toString()));
        command.addAll(List.of(arguments));
        return start(folder, environment, command);
    }

    static RunningZkLock startBy(Path folder, EmbeddedZooKeeper server, String script, String... arguments)
            throws IOException {
        return startBy(folder, Map.of("ZKLOCK_CONNECT", server.connectString()), script, arguments);
    }

    /** A script of bash that uses {@code $ZKLOCK}. */
    static RunningZkLock script(Path folder, EmbeddedZooKeeper server, String script)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(ZkLockProcess.interruptible());
        command.addAll(List.of("bash", "-c", script));
        return start(folder, Map.of("ZKLOCK_CONNECT", server.connectString(), "ZKLOCK", LAUNCHER.toString()), command);
    }

    /** Standard error is a pipe, which nobody reads before the exit code. */
    static RunningZkLock startUnread(Path folder, EmbeddedZooKeeper server, String... arguments)
            throws IOException, InterruptedException {
        Path out = Files.createTempFile(folder, "out", "");
        ProcessBuilder builder = new ProcessBuilder(commandLine(arguments)).redirectOutput(out.toFile());
        return started(builder, Map.of("ZKLOCK_CONNECT", server.connectString()), out, Path.of("/dev/null"));
    }

    private static RunningZkLock start(Path folder, Map<String, String> environment, List<String> command)
            throws IOException {
        Path out = Files.createTempFile(folder, "out", "");
        Path err = Files.createTempFile(folder, "err", "");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        return started(builder, environment, out, err);
    }

    private static RunningZkLock started(ProcessBuilder builder, Map<String, String> environment, Path out, Path err)
            throws IOException {
        prepare(builder.environment());
        builder.environment().putAll(environment);
        return new RunningZkLock(builder.start(), out, err);
    }

    /** How much of standard error waits to be read, if that is a pipe. */
    int unread() throws IOException {
        return process.getErrorStream().available();
    }

    OutputStream in() {
        return process.getOutputStream();
    }

    String out() throws IOException {
        return Files.readString(out, StandardCharsets.UTF_8);
    }

    String err() throws IOException {
        return Files.readString(err, StandardCharsets.UTF_8);
    }

    /** Waits until the command has written that. */
    void awaitOut(String part) {
        await().atMost(LIMIT)
                .failFast("zklock has ended", () -> !process.isAlive() && !out().contains(part))
                .until(() -> out().contains(part));
    }

    void awaitErr(String part) {
        await().atMost(LIMIT)
                .failFast("zklock has ended", () -> !process.isAlive() && !err().contains(part))
                .until(() -> err().contains(part));
    }

    /** Sends a signal to zklock alone. */
    void signal(String name) throws IOException, InterruptedException {
        signal(name, process.pid());
    }

    static void signal(String name, long pid) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("/bin/sh", "-c", "kill -s " + name + " " + pid)
                        .start()
                        .waitFor())
                .isZero();
    }

    /** Returns the exit code; what it said is in the message if there is none. */
    int awaitExit() throws IOException, InterruptedException {
        boolean ended = process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        assertThat(ended).as("ended; err: " + err()).isTrue();
        return process.exitValue();
    }

    /** The JVM that keeps the lock. */
    ProcessHandle keeper() {
        return keeperOf(pid());
    }

    static ProcessHandle keeperOf(long launcher) {
        return ProcessHandle.of(launcher)
                .orElseThrow()
                .children()
                .filter(child -> child.info().command().orElse("").endsWith("java"))
                .findFirst()
                .orElseThrow();
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Waits until the process of a number that the command has written in a line is gone. */
    static void awaitGone(long pid) {
        await().atMost(LIMIT)
                .until(() -> ProcessHandle.of(pid).map(p -> !p.isAlive()).orElse(true));
    }

    /** The number in the line "name number" that the command has written. */
    long number(String name) throws IOException {
        awaitOut(name + " ");
        await().atMost(LIMIT).until(() -> out().lines().anyMatch(line -> line.matches(name + " [0-9]+")));
        return out().lines()
                .filter(line -> line.matches(name + " [0-9]+"))
                .mapToLong(line -> Long.parseLong(line.substring(name.length() + 1)))
                .findFirst()
                .orElseThrow();
    }

    /** Ends what a failed test has left. */
    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
