// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** A record in two files: writers change one after the other, readers read both. Some writers continue as readers. */
final class ReadWriteShow implements Show {
    static final String READ = "read";
    static final String WRITE = "write";

    @Override
    public String intro() {
        return "read a record of two files, or write one after the other";
    }

    @Override
    public String rule() {
        return "nobody beside a writer";
    }

    @Override
    public boolean mayBeTogether(Collection<String> shares) {
        return shares.size() == 1 || !shares.contains(WRITE);
    }

    @Override
    public long size(Collection<String> shares) {
        return shares.size();
    }

    @Override
    public void prepare(Path folder) throws IOException {
        new TwoFiles(folder).write(0);
    }

    @Override
    public List<Check> evidence(Path folder) throws IOException {
        TwoFiles files = new TwoFiles(folder);
        long left = files.left();
        long right = files.right();
        return List.of(new Check(
                left == right && left > 0,
                "record",
                left == right
                        ? "both files are of version " + left + ", no reader saw two versions"
                        : "one file is of version " + left + ", the other of " + right));
    }

    @Override
    public Player player(ZooKeeperClient client, String lockPath, Path folder) {
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, lockPath);
        TwoFiles files = new TwoFiles(folder);
        return alone -> {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            if (!alone && random.nextInt(4) > 0) {
                return new Act(lock.readLock(), READ, (lease, presence) -> files.read());
            }
            boolean goesOnReading = random.nextBoolean();
            return new Act(lock.writeLock(), WRITE, (lease, presence) -> {
                long version = files.left() + 1;
                files.write(version);
                if (goesOnReading) {
                    readOwn(lock, files, version, lease, presence);
                }
            });
        };
    }

    /** The downgrade: nobody writes between the writing and the reading. */
    private static void readOwn(
            InterProcessReadWriteLock lock, TwoFiles files, long version, Lease writing, Presence presence)
            throws IOException, InterruptedException {
        Lease reading = lock.readLock().acquire();
        try {
            presence.become(READ);
            writing.close();
            if (files.read() != version) {
                throw new IOException("somebody wrote between a writer's writing and its reading");
            }
            presence.end();
        } finally {
            reading.close();
        }
    }

    /** The record. Nothing but the lock keeps a reader from seeing half of a change. */
    private record TwoFiles(Path folder) {
        long left() throws IOException {
            return Long.parseLong(Files.readString(folder.resolve("left")));
        }

        long right() throws IOException {
            return Long.parseLong(Files.readString(folder.resolve("right")));
        }

        void write(long version) throws IOException {
            Files.writeString(folder.resolve("left"), String.valueOf(version));
            pause();
            Files.writeString(folder.resolve("right"), String.valueOf(version));
        }

        long read() throws IOException {
            long left = left();
            pause();
            long right = right();
            if (left != right) {
                throw new IOException("read a record of two versions, " + left + " and " + right);
            }
            return left;
        }

        private static void pause() throws IOException {
            try {
                TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(1, 5));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // a stop never comes while the record is read or written
                throw new IOException("interrupted", e);
            }
        }
    }
}
