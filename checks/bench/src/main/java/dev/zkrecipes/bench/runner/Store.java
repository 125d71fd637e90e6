// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.runner;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Where a server keeps its data. In both places it forces each write to the file system before it answers, as ZooKeeper
 * does by default.
 */
public enum Store {
    /** On a file system in memory, where forcing costs nothing. */
    MEMORY("in memory", Path.of("/dev/shm")),
    /** In the folder for temporary files. */
    DISK("on disk", Path.of(System.getProperty("java.io.tmpdir")));

    private final String place;
    private final Path folder;

    Store(String place, Path folder) {
        this.place = place;
        this.folder = folder;
    }

    /** Returns this place in words, for readers of the figures. */
    public String place() {
        return place;
    }

    /**
     * Creates a folder for the data of child processes. When this JVM exits, for example after Ctrl-C, it ends all its
     * child processes and removes the folder.
     */
    public Path createDirectory() {
        try {
            Path directory = Files.createTempDirectory(folder, "zkrecipes-bench-");
            try {
                Runtime.getRuntime().addShutdownHook(new Thread(() -> abandon(directory)));
            } catch (IllegalStateException e) { // this JVM is exiting, so nothing that needs the folder may begin
                remove(directory);
                throw e;
            }
            return directory;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a folder in " + folder, e);
        }
    }

    private static void abandon(Path directory) {
        List<ProcessHandle> processes = ProcessHandle.current().descendants().toList();
        processes.forEach(ProcessHandle::destroyForcibly);
        processes.forEach(process -> process.onExit().join());
        remove(directory);
    }

    /** Removes a folder and all that is in it; does nothing if it is gone. */
    public static void remove(Path directory) {
        try {
            if (Files.exists(directory)) {
                MoreFiles.deleteRecursively(directory, RecursiveDeleteOption.ALLOW_INSECURE);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + directory, e);
        }
    }

    /**
     * Describes the store on this machine, with its folder and the type of the file system, for readers of the figures.
     */
    public String describe() {
        try {
            return "data " + place + ": " + folder + " ("
                    + Files.getFileStore(folder).type() + ")";
        } catch (IOException e) {
            return "data " + place + ": " + folder + " (" + e + ")";
        }
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
