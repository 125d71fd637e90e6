// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A child process that is stopped with SIGSTOP until this object is closed. It is in the same situation as during a
 * long garbage collection, on a machine that swaps, or while a virtual machine is being moved.
 *
 * <pre>{@code
 * try (FrozenJvm frozen = FrozenJvm.freeze(process)) {
 *     ...                        // its session expires, another client gets the lock
 * }                              // it continues and does not know
 * }</pre>
 *
 * <p>Needs the {@code kill} command.
 */
public final class FrozenJvm implements AutoCloseable {
    private final Process process;

    private FrozenJvm(Process process) {
        this.process = process;
    }

    /** Freezes a process and returns when none of its threads runs any more. */
    public static FrozenJvm freeze(Process process) {
        signal("STOP", process);
        if (Files.isDirectory(tasks(process))) {
            Soon.await().until(() -> isStopped(process));
        }
        return new FrozenJvm(process);
    }

    /**
     * Returns the folder in which Linux lists the threads. Other systems have no such folder, and stop a process fast
     * enough.
     */
    private static Path tasks(Process process) {
        return Path.of("/proc", String.valueOf(process.pid()), "task");
    }

    private static boolean isStopped(Process process) throws IOException {
        try (var threads = Files.newDirectoryStream(tasks(process))) {
            for (Path thread : threads) {
                String stat = Files.readString(thread.resolve("stat"));
                if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
                    return false;
                }
            }
            return true;
        }
    }

    /** Lets the process continue. Closing twice does nothing more. */
    @Override
    public void close() {
        if (process.isAlive()) {
            signal("CONT", process);
        }
    }

    @Override
    public String toString() {
        return "frozen process " + process.pid();
    }

    @CanIgnoreReturnValue
    private static int signal(String name, Process process) {
        try {
            Process kill = new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                    .inheritIO()
                    .start();
            return kill.waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot signal process " + process.pid(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while signalling process " + process.pid(), e);
        }
    }
}
