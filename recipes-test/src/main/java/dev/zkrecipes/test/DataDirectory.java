// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
            MoreFiles.deleteRecursively(path, RecursiveDeleteOption.ALLOW_INSECURE);
        }
    }
}
