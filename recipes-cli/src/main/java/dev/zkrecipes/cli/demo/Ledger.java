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
 * The files that all processes of a demo share: the ledger, in which each writes what it does, and a counter for each
 * thing that the locks protect. Each line of the ledger is one append, so the order of the lines is the order of
 * events, whatever the locks say. A worker is written in after it has got a lock and out before it gives it back.
 */
final class Ledger {
    private final Path folder;
    private long read;

    /**
     * What can happen to a worker: it asks for a lock; it is in, with a fencing token and a {@link Share}; it idles
     * until it is killed; it is out, its work done; it has lost its lease, and so given it back without writing; it
     * fails, and why; the demo has killed it.
     */
    enum What {
        ASKS,
        IN,
        IDLES,
        OUT,
        LOST,
        FAILS,
        KILLED
    }

    /**
     * What a worker holds. Each thing that the locks of a demo protect has a capacity, such as the permits of a
     * semaphore; nobody else may hold any of it beside a worker that holds the whole.
     *
     * @param mark how the picture shows it
     * @param amount how much of each thing
     * @param things the numbers of the things, from 0
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

        /** As {@link #parse} reads it: {@code # 1 0,3}. */
        @Override
        public String toString() {
            return mark + " " + amount + " "
                    + String.join(",", things.stream().map(String::valueOf).toList());
        }
    }

    /**
     * A line.
     *
     * @param worker who
     * @param what what happened
     * @param text the particulars
     * @param at when the demo read it
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

    /** Creates the files. A worker that outlives the demo must not create them again, so nothing else does. */
    void create(int things) throws IOException {
        Files.createFile(file());
        for (int thing = 0; thing < things; thing++) {
            Files.writeString(counter(thing), "0");
        }
    }

    void add(int worker, What what, String text) throws IOException {
        String line = (worker + " " + what + " " + text.replaceAll("\\s+", " ")).strip() + "\n";
        Files.writeString(file(), line, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
    }

    /** The lines since the last call. */
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

    /** Not by any means atomic: only the lock keeps others from reading or writing meanwhile. */
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
