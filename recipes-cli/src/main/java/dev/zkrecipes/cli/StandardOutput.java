// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Standard output that remembers the first error. A {@link java.io.PrintWriter} on top of it only remembers that
 * there was an error.
 */
final class StandardOutput extends FileOutputStream {
    // The bits of a file's mode that tell its type, and the two types that have a reader. See inode(7).
    private static final int TYPE = 0170000;
    private static final int FIFO = 0010000;
    private static final int SOCKET = 0140000;

    private @Nullable IOException first;

    StandardOutput() {
        super(FileDescriptor.out);
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
        try {
            super.write(bytes, from, count);
        } catch (IOException e) {
            first = first == null ? e : first;
            throw e;
        }
    }

    /**
     * Returns why output is missing; empty if all of it was written. Also returns empty if standard output is a pipe or
     * a socket: its reader has closed it because it wants no more, as {@code head} does, and that is not an error.
     */
    Optional<String> failure() {
        return Optional.ofNullable(first).map(IOException::getMessage).filter(message -> !hasReader());
    }

    private static boolean hasReader() {
        try {
            int type = (int) Files.getAttribute(Path.of("/dev/fd/1"), "unix:mode") & TYPE;
            return type == FIFO || type == SOCKET;
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            return false; // this system does not report the type, so the error is reported
        }
    }
}
