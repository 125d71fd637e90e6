// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.server;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * Keeps a second server out of a data folder, where it would spoil the log. The system lets go of it with the process.
 */
final class FolderLock implements AutoCloseable {
    private final FileChannel channel;

    private FolderLock(FileChannel channel) {
        this.channel = channel;
    }

    /** Takes the folder, and creates it if it does not exist; empty if another process has it. */
    static Optional<FolderLock> take(Path folder) throws IOException {
        FileChannel channel = FileChannel.open(
                Files.createDirectories(folder).resolve("zklock.lock"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock();
        if (lock == null) {
            channel.close();
            return Optional.empty();
        }
        return Optional.of(new FolderLock(channel));
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
