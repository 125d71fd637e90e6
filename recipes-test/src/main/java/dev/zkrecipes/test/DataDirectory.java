// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** Where a server keeps its data: the user's own directory, or a temporary one that is removed at the end. */
final class DataDirectory implements AutoCloseable {
    private final Path path;
    private final boolean temporary;

    private DataDirectory(Path path, boolean temporary) {
        this.path = path;
        this.temporary = temporary;
    }

    static DataDirectory open(@Nullable Path chosen, int port) throws IOException {
        return chosen == null
                ? temporary("embedded-zookeeper-" + port + "-")
                : new DataDirectory(Files.createDirectories(chosen), false);
    }

    static DataDirectory temporary(String prefix) throws IOException {
        return new DataDirectory(Files.createTempDirectory(prefix), true);
    }

    Path path() {
        return path;
    }

    @Override
    public void close() throws IOException {
        if (temporary && Files.exists(path)) {
            Files.walkFileTree(path, new Removal());
        }
    }

    private static final class Removal extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure) throws IOException {
            if (failure != null) {
                throw failure;
            }
            Files.delete(directory);
            return FileVisitResult.CONTINUE;
        }
    }
}
