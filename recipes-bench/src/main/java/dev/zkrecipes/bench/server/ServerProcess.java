// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.server;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A ZooKeeper server in a JVM of its own, so that its costs are not counted as a client's. Thread-safe. */
public final class ServerProcess implements AutoCloseable {
    private static final List<String> OPTIONS = List.of(
            "-Xms512m",
            "-Xmx2g",
            "-XX:+IgnoreUnrecognizedVMOptions",
            "--enable-native-access=ALL-UNNAMED",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=error");

    private final Path directory;
    private final Process process;
    private final PrintWriter questions;
    private final BufferedReader answers;
    private final int port;

    @GuardedBy("this")
    private final Map<Integer, String> proxies = new HashMap<>();

    private ServerProcess(Path directory, Process process) throws IOException {
        this.directory = directory;
        this.process = process;
        this.questions = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        this.port = Integer.parseInt(nextAnswer());
    }

    /** Starts a server with an empty store. */
    public static ServerProcess start(Store store) {
        try {
            Path directory = store.createDirectory();
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(OPTIONS);
            command.add("-cp");
            // Surefire runs tests from a jar that only names the class path. This property has the class path.
            command.add(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
            command.add(BenchServer.class.getName());
            command.add(directory.toString());
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try {
                return new ServerProcess(directory, process);
            } catch (IOException | RuntimeException e) {
                process.destroyForcibly().onExit().join();
                Store.remove(directory);
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a ZooKeeper server", e);
        }
    }

    /**
     * Where to connect.
     *
     * @param roundTripMillis the delay to add to each round trip; 0 for no proxy at all
     */
    public synchronized String connectString(int roundTripMillis) {
        return roundTripMillis == 0
                ? "127.0.0.1:" + port
                : proxies.computeIfAbsent(
                        roundTripMillis,
                        millis -> "127.0.0.1:" + ask("proxy " + TimeUnit.MILLISECONDS.toNanos(millis) / 2));
    }

    /** The counts of the server so far. */
    public Counts counts() {
        String[] counts = ask("counts").split(" ", 2);
        return new Counts(Long.parseLong(counts[0]), Long.parseLong(counts[1]));
    }

    /** How many children a node has; 0 if there is no node. */
    public int children(String path) {
        return Integer.parseInt(ask("children " + path));
    }

    /** Where its data are. */
    Path directory() {
        return directory;
    }

    /** Removes the old logs of the server. */
    public void tidy() {
        ask("tidy");
    }

    /**
     * How many watches there are of others than the owner, on a path's list of children and on each child, each session
     * counted for itself.
     */
    private int watches(String path) {
        return Integer.parseInt(ask("watches " + path));
    }

    /**
     * Waits until so many children are there, those who wait watch what they wait for, and, for a tenth of a second,
     * nobody sent anything.
     *
     * @param watches how many there are at least when all watch; a watch on what the session itself made is not counted
     */
    public void awaitQuiet(String path, int children, int watches) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
        Counts before = counts();
        boolean quiet = false;
        while (!quiet) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException(path + " has " + children(path) + " children and " + watches(path)
                        + " watches, not " + children + " and " + watches + ", or is still busy, after three minutes");
            }
            TimeUnit.MILLISECONDS.sleep(100);
            Counts now = counts();
            quiet = now.equals(before) && children(path) == children && (watches == 0 || watches(path) >= watches);
            before = now;
        }
    }

    private synchronized String ask(String question) {
        questions.println(question);
        try {
            return nextAnswer();
        } catch (IOException e) {
            throw new UncheckedIOException("the server does not answer: " + question, e);
        }
    }

    private String nextAnswer() throws IOException {
        String answer = answers.readLine();
        if (answer == null) {
            throw new IOException("the server's process has ended; see its messages above");
        }
        return answer;
    }

    /** Ends the process and removes its data. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
        try {
            Store.remove(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + directory, e);
        }
    }
}
