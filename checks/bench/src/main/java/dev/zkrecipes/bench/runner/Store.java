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

/** Where a server keeps its data. Either way it forces each write before it answers, as ZooKeeper does by default. */
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

    /** Where it is, for readers of the figures. */
    public String place() {
        return place;
    }

    /** A new folder, for processes of this one. After Ctrl-C they end, and it is removed. */
    public Path createDirectory() {
        try {
            Path directory = Files.createTempDirectory(folder, "zkrecipes-bench-");
            try {
                Runtime.getRuntime().addShutdownHook(new Thread(() -> abandon(directory)));
            } catch (IllegalStateException e) { // after Ctrl-C: what needs it is not begun any more
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

    /** The store on this machine, for readers of the figures. */
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
