// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The temporary folder with all files of a demo. */
final class DemoFolder {
    static final String PREFIX = "zklock-demo-";
    private static final int ATTEMPTS = 5;

    private DemoFolder() {}

    static Path create() throws IOException {
        return Files.createTempDirectory(PREFIX);
    }

    /** Removes the folder and its contents, even while others remove it or still write to it. */
    static void delete(Path folder) throws IOException {
        for (int attempt = 1; Files.exists(folder) && attempt <= ATTEMPTS; attempt++) {
            try {
                deleteOnce(folder);
            } catch (IOException e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private static void deleteOnce(Path folder) throws IOException {
        try (Stream<Path> tree = Files.walk(folder)) {
            List<Path> upwards = tree.sorted(Comparator.reverseOrder()).toList();
            for (Path path : upwards) {
                Files.deleteIfExists(path);
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }
}
