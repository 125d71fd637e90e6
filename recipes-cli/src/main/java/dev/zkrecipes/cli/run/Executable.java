// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Finds a command as a shell does. zklock looks before it asks for the lock, so that nobody waits for a missing
 * command.
 */
final class Executable {
    private static final String USUAL_PATH = "/usr/bin:/bin";

    private Executable() {}

    /** What was found. */
    enum Finding {
        RUNNABLE,
        NOT_EXECUTABLE,
        NOT_FOUND
    }

    static Finding look(String command, Optional<String> searchPath) {
        List<Path> places = places(command, searchPath);
        if (places.stream().anyMatch(Executable::isRunnable)) {
            return Finding.RUNNABLE;
        }
        return places.stream().anyMatch(Files::exists) ? Finding.NOT_EXECUTABLE : Finding.NOT_FOUND;
    }

    /** The file of a tool, if this system has it. */
    static Optional<String> find(String tool, Optional<String> searchPath) {
        return places(tool, searchPath).stream()
                .filter(Executable::isRunnable)
                .map(Path::toString)
                .findFirst();
    }

    private static List<Path> places(String command, Optional<String> searchPath) {
        List<Path> places = new ArrayList<>();
        try {
            if (command.indexOf(File.separatorChar) >= 0) {
                places.add(Path.of(command));
            } else if (!command.isEmpty()) {
                for (String folder : searchPath.orElse(USUAL_PATH).split(File.pathSeparator, -1)) {
                    places.add(Path.of(folder.isEmpty() ? "." : folder, command));
                }
            }
        } catch (InvalidPathException e) {
            // No file can have such a name.
        }
        return places;
    }

    private static boolean isRunnable(Path file) {
        return Files.isRegularFile(file) && Files.isExecutable(file);
    }
}
