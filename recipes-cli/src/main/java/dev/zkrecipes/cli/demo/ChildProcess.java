// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.cli.ZkLock;
import java.io.BufferedReader;
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
import java.util.function.Consumer;

/**
 * Another JVM with the same class path. Its standard error is ours.
 *
 * <p>Ctrl-C in a terminal goes to all processes there. The children ignore it: the demo ends them, in order.
 */
final class ChildProcess {
    private static final Duration END_LIMIT = Duration.ofSeconds(10);
    private static final Path SHELL = Path.of("/bin/sh");

    /** A JVM whose parent ignored a signal ignores it too. */
    private static final String IGNORE_TERMINAL = "trap '' INT HUP; exec \"$0\" \"$@\"";

    /** Quick to start and small. */
    private static final List<String> JVM_OPTIONS = List.of(
            "-Xmx96m",
            "-XX:+IgnoreUnrecognizedVMOptions",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED");

    private final int number;
    private final Process process;

    private ChildProcess(int number, Process process) {
        this.number = number;
        this.process = process;
    }

    /**
     * Starts a child.
     *
     * @param number the number of the child, for the event of its exit
     * @param arguments those of the {@code zklock} command
     * @param heard gets its events, on a thread of its own, the exit last
     */
    static ChildProcess start(int number, List<String> arguments, Consumer<Arrival> heard) throws IOException {
        Process process = new ProcessBuilder(command(arguments))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        ChildProcess child = new ChildProcess(number, process);
        Thread ear = new Thread(() -> child.hear(heard), "hears " + Timeline.name(number));
        ear.setDaemon(true);
        ear.start();
        return child;
    }

    void order(Order order) {
        try {
            OutputStream in = process.getOutputStream();
            in.write((order.line() + "\n").getBytes(StandardCharsets.US_ASCII));
            in.flush();
        } catch (IOException e) {
            // The child is gone; its exit says so.
        }
    }

    /** SIGKILL, where there are signals. */
    void kill() {
        process.destroyForcibly();
    }

    /** Kills the child and waits until it is gone. */
    void end() {
        kill();
        try {
            if (!process.waitFor(END_LIMIT.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new IllegalStateException("process " + process.pid() + " was killed and has not ended within "
                        + Timeline.show(END_LIMIT));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void hear(Consumer<Arrival> heard) {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                long now = System.nanoTime();
                Event.parse(line).ifPresentOrElse(event -> heard.accept(new Arrival(now, event)), stray(line));
            }
        } catch (IOException e) {
            // The same as the end of the output: only the exit counts.
        }
        try {
            long code = process.waitFor();
            heard.accept(new Arrival(System.nanoTime(), new Event(number, Event.Kind.EXITED, Map.of("code", code))));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Runnable stray(String line) {
        return () -> System.err.println(Timeline.name(number) + ": " + line);
    }

    private static List<String> command(List<String> arguments) {
        List<String> command = new ArrayList<>();
        if (Files.isExecutable(SHELL)) {
            command.addAll(List.of(SHELL.toString(), "-c", IGNORE_TERMINAL));
        }
        command.add(ProcessHandle.current()
                .info()
                .command()
                .orElse(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(JVM_OPTIONS);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ZkLock.class.getName(), "demo"));
        command.addAll(arguments);
        return command;
    }
}
