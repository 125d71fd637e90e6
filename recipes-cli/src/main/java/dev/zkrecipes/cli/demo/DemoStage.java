// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;

/**
 * The server, the folder and the processes of a demo. All are gone when it is closed, or when Ctrl-C or a signal ends
 * the JVM. Thread-safe.
 */
final class DemoStage implements AutoCloseable {
    static final Duration TICK = Duration.ofMillis(500);
    private static final Duration END_LIMIT = Duration.ofSeconds(10);
    private static final int ATTEMPTS = 5;

    private final Path folder;
    private final EmbeddedZooKeeper server;

    @GuardedBy("this")
    private final Map<Integer, Process> processes = new TreeMap<>();

    @GuardedBy("this")
    private boolean closed;

    private volatile boolean interrupted;

    DemoStage() throws IOException {
        folder = Files.createTempDirectory("zklock-demo-");
        Runtime.getRuntime().addShutdownHook(new Thread(this::interrupt, "ends the demo"));
        synchronized (this) { // the end waits until there is a server
            server = EmbeddedZooKeeper.builder()
                    .tickTime(TICK)
                    .dataDirectory(folder.resolve("server"))
                    .start();
        }
    }

    Path folder() {
        return folder;
    }

    EmbeddedZooKeeper server() {
        return server;
    }

    /** Whether the end came from outside, so that whatever goes wrong from then on does not count. */
    boolean isInterrupted() {
        return interrupted;
    }

    /** Starts a process with our standard output and error, and returns its id. */
    synchronized long start(int number, List<String> command) throws IOException {
        if (closed) {
            throw new CancellationException("the demo is being ended");
        }
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .start();
        processes.put(number, process);
        return process.pid();
    }

    synchronized Process process(int number) {
        Process process = processes.get(number);
        if (process == null) {
            throw new IllegalArgumentException("there is no worker " + number);
        }
        return process;
    }

    /** SIGKILL, where there are signals. Returns when the process is gone, and whether it is. */
    boolean kill(int number) throws InterruptedException {
        return process(number).destroyForcibly().waitFor(END_LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    /** Tells a worker to end after its turn. */
    void stop(int number) {
        try (var orders = process(number).getOutputStream()) {
            orders.write("stop\n".getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            // It is gone, which its exit code says.
        }
    }

    /** Further calls do nothing. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            for (int number : new ArrayList<>(processes.keySet())) {
                kill(number);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        server.close();
        delete(folder);
    }

    private synchronized void interrupt() {
        if (!closed) {
            interrupted = true;
            close();
            System.out.println("interrupted: all processes have ended, all files are removed");
        }
    }

    /** Deletes it, even while others do so or still write to it. */
    static void delete(Path folder) {
        for (int attempt = 0; attempt < ATTEMPTS && Files.exists(folder); attempt++) {
            try {
                MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
            } catch (IOException e) {
                // Once more; the demo says what is left.
            }
        }
    }
}
