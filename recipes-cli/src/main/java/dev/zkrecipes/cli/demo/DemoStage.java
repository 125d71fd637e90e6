// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

    final Path folder;
    final EmbeddedZooKeeper server;

    @GuardedBy("this")
    private final List<Process> workers = new ArrayList<>();

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

    /** Whether the end came from outside, so that whatever goes wrong from then on does not count. */
    boolean isInterrupted() {
        return interrupted;
    }

    /** Starts a worker with our standard output and error, and returns its id. */
    synchronized long start(List<String> command) throws IOException {
        if (closed) {
            throw new CancellationException("the demo is being ended");
        }
        workers.add(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .start());
        return workers.get(workers.size() - 1).pid();
    }

    /** The first is number 1. */
    synchronized Process worker(int number) {
        return workers.get(number - 1);
    }

    /** SIGKILL, where there are signals. Returns when the process is gone, and whether it is. */
    static boolean kill(Process worker) throws InterruptedException {
        return worker.destroyForcibly().waitFor(END_LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    /** Further calls do nothing. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            for (Process worker : workers) {
                kill(worker);
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
