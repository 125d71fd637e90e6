// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * The files that all processes of a demo share: the ledger, in which each process writes what it does, and the counter
 * that the lock protects.
 *
 * <p>Each line of the ledger is one append. So the order of the lines is the order of the events, whether or not the
 * lock works. A worker writes that it is in after it has acquired the lock, and that it is out before it releases the
 * lock: so if two holds overlap in the ledger, they really did overlap.
 */
final class Ledger {
    private final Path folder;
    private long read; // how many bytes of the ledger news() has returned

    /** What can happen to a worker. */
    enum What {
        /** The worker requests the lock. */
        ASKS,
        /** It holds the lock; the text is its fencing token. */
        IN,
        /** It holds the lock and does nothing until it is killed. */
        IDLES,
        /** It has done its work and is about to release the lock. */
        OUT,
        /** It has lost its lease, and gives up without having written to the counter. */
        LOST,
        /** It cannot continue; the text says why. */
        FAILS,
        /** The demo has killed it. */
        KILLED
    }

    /**
     * A line of the ledger.
     *
     * @param worker the number of the worker
     * @param what what happened
     * @param text the details, see {@link What}; may be empty
     * @param at when the demo read the line, by {@link System#nanoTime}
     */
    record Entry(int worker, What what, String text, long at) {
        long token() {
            return Long.parseLong(text);
        }
    }

    Ledger(Path folder) {
        this.folder = folder;
    }

    /**
     * Creates the files. The demo calls this once, and no other method creates a file: a worker that outlives the
     * demo must not create one again in a folder that was cleaned up.
     */
    void create() throws IOException {
        Files.createFile(file());
        Files.writeString(counter(), "0");
    }

    /** Appends a line, in one write. */
    void add(int worker, What what, String text) throws IOException {
        String line = (worker + " " + what + " " + text.replaceAll("\\s+", " ")).strip() + "\n";
        Files.writeString(file(), line, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
    }

    /** Returns the lines since the last call. A line that is not complete yet is left for the next call. */
    List<Entry> news(long now) throws IOException {
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file())) {
            in.skipNBytes(read);
            bytes = in.readAllBytes();
        }
        String text = new String(bytes, StandardCharsets.UTF_8);
        String lines = text.substring(0, text.lastIndexOf('\n') + 1);
        read += lines.getBytes(StandardCharsets.UTF_8).length;
        return lines.lines().map(line -> entry(line, now)).toList();
    }

    private static Entry entry(String line, long now) {
        String[] words = (line + " ").split(" ", 3);
        try {
            return new Entry(Integer.parseInt(words[0]), What.valueOf(words[1]), words[2].strip(), now);
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException("the ledger is damaged: it has the line \"" + line + "\"", e);
        }
    }

    long count() throws IOException {
        String count = Files.readString(counter());
        try {
            return Long.parseLong(count);
        } catch (NumberFormatException e) {
            throw new IOException("the counter is \"" + count + "\"", e);
        }
    }

    /**
     * Sets the counter. This is not atomic, on purpose: only the lock keeps others from reading or writing meanwhile.
     */
    void setCount(long count) throws IOException {
        Files.writeString(
                counter(), String.valueOf(count), StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
    }

    private Path file() {
        return folder.resolve("ledger");
    }

    private Path counter() {
        return folder.resolve("counter");
    }
}
