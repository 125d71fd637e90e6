// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Suppliers;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** {@code zklock} from the jar, in a process of its own. Its output goes to files of the test. */
public final class RunningZkLock implements AutoCloseable {
    public static final Duration LIMIT = Duration.ofSeconds(240);

    private static final Path JAR = Path.of("target/zklock.jar").toAbsolutePath();
    private static final Archive ARCHIVE = new Archive();
    private static final Supplier<List<String>> INTERRUPTIBLE = Suppliers.memoize(RunningZkLock::findInterruptible);

    private final Process process;
    private final Path out;
    private final Path err;

    private RunningZkLock(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /** The launcher, as users start it. */
    public static final Path LAUNCHER =
            Path.of("../bin/zklock").toAbsolutePath().normalize();

    public static List<String> commandLine(String... arguments) throws IOException, InterruptedException {
        Tool.PERL.require();
        List<String> command = new ArrayList<>(interruptible());
        command.add(LAUNCHER.toString());
        command.addAll(List.of(arguments));
        return command;
    }

    /** The jar without the launcher, with an option of the JVM. */
    public static RunningZkLock jar(Path folder, String option, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(interruptible());
        command.addAll(java());
        command.add(command.size() - 2, option);
        command.addAll(List.of(arguments));
        return start(folder, Map.of(), command);
    }

    /** What starts that. */
    public static List<String> java() {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-jar",
                "target/zklock.jar");
    }

    /**
     * What undoes the ignoring of SIGINT, SIGQUIT and SIGHUP that a process inherits if the build was started in the
     * background or by nohup: a JVM then ignores them too. Only GNU's {@code env} can; elsewhere the build has to be in
     * the foreground.
     */
    public static List<String> interruptible() {
        return INTERRUPTIBLE.get();
    }

    private static List<String> findInterruptible() {
        List<String> reset = List.of("env", "--default-signal=INT,HUP,QUIT");
        try {
            Process trial = new ProcessBuilder(
                            Stream.concat(reset.stream(), Stream.of("true")).toList())
                    .redirectErrorStream(true)
                    .start();
            return trial.onExit().join().exitValue() == 0 ? reset : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Sets the environment of a test: the jar and the JVM of this build, the variables of the test, and no other
     * variable of {@code zklock}. Unless the test has a JDK of its own, there is an archive of classes already:
     * otherwise the first test would make it and may be one that kills, and all others would load classes for a second.
     */
    public static void prepare(Map<String, String> environment, Map<String, String> own) throws IOException {
        environment.keySet().removeIf(name -> name.startsWith("ZKLOCK_"));
        environment.put("ZKLOCK_JAR", JAR.toString());
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        if (!own.containsKey("JAVA_HOME")) {
            ARCHIVE.make(environment);
        }
        environment.putAll(own);
    }

    /** That of the jar of this build, which the launcher makes after a hold. */
    private static final class Archive {
        private boolean made;

        /** Makes it, if no test of this JVM has. */
        synchronized void make(Map<String, String> environment) throws IOException {
            if (made) {
                return;
            }
            made = true;
            Files.deleteIfExists(Path.of(JAR + ".preparing/archive")); // that of a build that was ended
            Files.deleteIfExists(Path.of(JAR + ".preparing"));
            try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
                ProcessBuilder builder = new ProcessBuilder(LAUNCHER.toString(), "run", "/archive", "true");
                builder.environment().putAll(environment);
                builder.environment().put("ZKLOCK_CONNECT", server.connectString());
                Process run = builder.redirectErrorStream(true).start();
                String said = new String(run.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertThat(run.onExit().join().exitValue()).as(said).isZero();
                await().atMost(LIMIT).until(() -> Files.notExists(Path.of(JAR + ".preparing")));
            }
        }
    }

    /** With this server in its environment. */
    public static RunningZkLock start(Path folder, EmbeddedZooKeeper server, String... arguments)
            throws IOException, InterruptedException {
        return start(folder, Map.of("ZKLOCK_CONNECT", server.connectString()), arguments);
    }

    public static RunningZkLock start(Path folder, Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        return start(folder, environment, commandLine(arguments));
    }

    /** Like process 1 of a container: orphans become its children, and it does not ask for their exit codes. */
    public static RunningZkLock startAsReaper(Path folder, Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        Tool.PERL.require();
        int prctl = System.getProperty("os.arch").equals("aarch64") ? 167 : 157;
        String becomeSubreaper = "syscall(" + prctl + ", 36, 1, 0, 0, 0) == 0 or die; exec { $ARGV[0] } @ARGV";
        List<String> command = new ArrayList<>(List.of("perl", "-e", becomeSubreaper, "--"));
        command.addAll(commandLine(arguments));
        return start(folder, environment, command);
    }

    /** Started by a shell, which runs a script first that starts it with {@code "$@"}. */
    public static RunningZkLock startBy(
            Path folder, Map<String, String> environment, String script, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("/bin/bash", "-c", script, "bash", LAUNCHER.toString()));
        command.addAll(List.of(arguments));
        return start(folder, environment, command);
    }

    /** A script of bash that uses {@code $ZKLOCK}. */
    public static RunningZkLock script(Path folder, EmbeddedZooKeeper server, String script)
            throws IOException, InterruptedException {
        return script(folder, server, "bash", script);
    }

    /** A script that uses {@code $ZKLOCK}. */
    public static RunningZkLock script(Path folder, EmbeddedZooKeeper server, String shell, String script)
            throws IOException, InterruptedException {
        Map<String, String> environment =
                Map.of("ZKLOCK_CONNECT", server.connectString(), "ZKLOCK", LAUNCHER.toString());
        return script(folder, environment, shell, script);
    }

    public static RunningZkLock script(Path folder, Map<String, String> environment, String shell, String script)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(interruptible());
        command.addAll(List.of(shell.split(" ")));
        command.addAll(List.of("-c", script));
        return start(folder, environment, command);
    }

    /**
     * Runs {@code zklock run} with a short wait, and again with longer ones until it says what is expected: to find
     * that out takes longer on a busy machine.
     */
    public static void assertRunFailsInTime(
            Path folder, Map<String, String> environment, int code, List<String> told, String... arguments)
            throws IOException, InterruptedException {
        String err = "";
        for (int seconds = 1; seconds < LIMIT.toSeconds() && !told.stream().allMatch(err::contains); seconds *= 3) {
            List<String> command = new ArrayList<>(List.of("run", "--wait=" + seconds));
            command.addAll(List.of(arguments));
            try (RunningZkLock run = start(folder, environment, command.toArray(String[]::new))) {
                int exit = run.awaitExit();
                err = run.err();
                assertThat(exit).as(err).isIn(code, 69);
                assertThat(exit == code || !told.stream().allMatch(err::contains))
                        .as(exit + " " + err)
                        .isTrue();
                assertThat(err.lines()).hasSize(1);
                assertThat(run.out()).isEmpty();
            }
        }
        assertThat(err).contains(told);
    }

    /** Standard error is a pipe, which nobody reads before the exit code. */
    public static RunningZkLock startUnread(Path folder, Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        Path out = Files.createTempFile(folder, "out", "");
        ProcessBuilder builder = new ProcessBuilder(commandLine(arguments)).redirectOutput(out.toFile());
        return started(builder, environment, out, Path.of("/dev/null"));
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
        prepare(builder.environment(), environment);
        return new RunningZkLock(builder.start(), out, err);
    }

    /** How much of standard error waits to be read, if that is a pipe. */
    public int unread() throws IOException {
        return process.getErrorStream().available();
    }

    public OutputStream in() {
        return process.getOutputStream();
    }

    public String out() throws IOException {
        return Files.readString(out, StandardCharsets.UTF_8);
    }

    /** A character for each. */
    public String bytesOfOut() throws IOException {
        return Files.readString(out, StandardCharsets.ISO_8859_1);
    }

    public String err() throws IOException {
        return Files.readString(err, StandardCharsets.UTF_8);
    }

    /** What it has written, in whole lines. */
    public List<String> lines() throws IOException {
        String text = out();
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
    }

    /** What it has complained of. */
    public List<String> complaints() throws IOException {
        return err().lines().toList();
    }

    public void awaitLine(String part) {
        await().atMost(LIMIT)
                .failFast("it has ended", () -> !process.isAlive() && !out().contains(part))
                .until(() -> lines().stream().anyMatch(line -> line.contains(part)));
    }

    /** Waits until the command has written that. */
    public void awaitOut(String part) {
        await().atMost(LIMIT)
                .failFast("zklock has ended", () -> !process.isAlive() && !out().contains(part))
                .until(() -> out().contains(part));
    }

    public void awaitErr(String part) {
        await().atMost(LIMIT)
                .failFast("zklock has ended", () -> !process.isAlive() && !err().contains(part))
                .until(() -> err().contains(part));
    }

    /** Sends a signal to zklock alone. */
    public void signal(String name) throws IOException, InterruptedException {
        signal(name, process.pid());
    }

    public static void signal(String name, long pid) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("/bin/sh", "-c", "kill -s " + name + " " + pid)
                        .start()
                        .waitFor())
                .isZero();
    }

    /** Returns the exit code; what it said is in the message if there is none. */
    public int awaitExit() throws IOException, InterruptedException {
        boolean ended = process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        assertThat(ended).as("ended; err: " + err()).isTrue();
        return process.exitValue();
    }

    /** The processes that it has started, as of now. */
    public List<ProcessHandle> children() {
        return process.descendants().toList();
    }

    /** The JVM that keeps the lock. */
    public ProcessHandle keeper() {
        return process.children()
                .filter(child -> child.info().command().orElse("").endsWith("java"))
                .findFirst()
                .orElseThrow();
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Whether a process runs. One that has ended, and whose parent has not asked for its exit code, does not. */
    public static boolean runs(long pid) throws IOException {
        String state = state(pid);
        return !state.isEmpty() && !state.startsWith("Z");
    }

    /** As ps shows it: T is stopped, S sleeps. */
    public static String state(long pid) throws IOException {
        Process ps = new ProcessBuilder("ps", "-o", "stat=", "-p", String.valueOf(pid)).start();
        return new String(ps.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
    }

    /** Waits until the process of a number that the command has written in a line is gone. */
    public static void awaitGone(long pid) {
        await().atMost(LIMIT)
                .until(() -> ProcessHandle.of(pid).map(p -> !p.isAlive()).orElse(true));
    }

    /** Waits until so many hold and wait at a path. */
    public static void awaitNodes(EmbeddedZooKeeper server, String path, int count) {
        await().atMost(LIMIT).until(() -> server.children(path).size() == count);
    }

    /** The number in the line "name number" that the command has written. */
    public long number(String name) throws IOException {
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
