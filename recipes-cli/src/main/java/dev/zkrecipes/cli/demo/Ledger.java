// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The files that all processes of a demo share: the ledger, in which each process writes what it does, and a counter
 * for each thing that the locks protect.
 *
 * <p>Each line of the ledger is one append. So the order of the lines is the order of the events, whether or not the
 * locks work. A worker writes that it is in after it has acquired a lock, and that it is out before it releases the
 * lock: so if two holds overlap in the ledger, they really did overlap.
 */
final class Ledger {
    private final Path folder;
    private long read; // how many bytes of the ledger news() has returned

    /** What can happen to a worker. */
    enum What {
        /** The worker asks for a lock. */
        ASKS,
        /** It holds the lock; the text has its fencing token and its {@link Share}. */
        IN,
        /** It holds the lock and does nothing until it is killed. */
        IDLES,
        /** It has done its work and is about to release the lock. */
        OUT,
        /** It has lost its lease, and gives up without having written to the counters. */
        LOST,
        /** It cannot continue; the text says why. */
        FAILS,
        /** The demo has killed it. */
        KILLED
    }

    /**
     * What a worker holds. Each thing that the locks of a demo protect has a capacity, such as the permits of a
     * semaphore. Together the workers may hold no more of it than that.
     *
     * @param mark the character for it in the picture
     * @param amount how much of each thing the worker holds
     * @param things the numbers of these things, counted from 0
     */
    record Share(char mark, int amount, List<Integer> things) {
        Share {
            things = List.copyOf(things);
        }

        static Share of(char mark, int amount) {
            return new Share(mark, amount, List.of(0));
        }

        static Share parse(String text) {
            String[] words = text.split(" ", -1);
            List<Integer> things = new ArrayList<>();
            for (String thing : words[2].split(",", -1)) {
                things.add(Integer.valueOf(thing));
            }
            return new Share(words[0].charAt(0), Integer.parseInt(words[1]), things);
        }

        /** The form that {@link #parse} reads, such as {@code # 1 0,3}. */
        @Override
        public String toString() {
            return mark + " " + amount + " "
                    + String.join(",", things.stream().map(String::valueOf).toList());
        }
    }

    /**
     * A line of the ledger.
     *
     * @param worker the number of the worker
     * @param what what happened
     * @param text the particulars
     * @param at when the demo read the line, by {@link System#nanoTime}
     */
    record Entry(int worker, What what, String text, long at) {
        long token() {
            return Long.parseLong(text.substring(0, text.indexOf(' ')));
        }

        Share share() {
            return Share.parse(text.substring(text.indexOf(' ') + 1));
        }
    }

    Ledger(Path folder) {
        this.folder = folder;
    }

    /**
     * Creates the files. The demo calls this once, and no other method creates a file: a worker that outlives the
     * demo must not create one again in a folder that was cleaned up.
     */
    void create(int things) throws IOException {
        Files.createFile(file());
        for (int thing = 0; thing < things; thing++) {
            Files.writeString(counter(thing), "0");
        }
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

    long count(int thing) throws IOException {
        String count = Files.readString(counter(thing));
        try {
            return Long.parseLong(count);
        } catch (NumberFormatException e) {
            throw new IOException("counter " + thing + " is \"" + count + "\"", e);
        }
    }

    /**
     * Sets a counter. This is not atomic, on purpose: only the lock keeps others from reading or writing meanwhile.
     */
    void setCount(int thing, long count) throws IOException {
        Files.writeString(
                counter(thing), String.valueOf(count), StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
    }

    private Path file() {
        return folder.resolve("ledger");
    }

    private Path counter(int thing) {
        return folder.resolve("counter-" + thing);
    }
}
