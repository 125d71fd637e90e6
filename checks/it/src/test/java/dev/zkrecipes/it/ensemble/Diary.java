// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What one process did, line by line. */
final class Diary {
    /** Where a fault will hit a holder that knows that it holds. */
    record Stay(Way way, String writeId) {}

    private final Path file;

    Diary(Path folder, int process) {
        this.file = folder.resolve("diary-" + process);
    }

    void add(Hold hold) throws IOException {
        append("hold " + hold.lock() + " " + hold.exclusive() + " " + hold.token() + " " + hold.grantedAt() + " "
                + hold.lastValidAt());
    }

    void add(Write write) throws IOException {
        append("write " + write.id() + " " + String.join(",", write.counters()) + " " + write.outcome());
    }

    /** A long stay begins, which ends with a write. */
    void add(Stay stay) throws IOException {
        append("stay " + stay.way() + " " + stay.writeId());
    }

    private void append(String line) throws IOException {
        Files.writeString(file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    boolean isBegun() {
        return Files.exists(file);
    }

    List<Hold> holds() throws IOException {
        List<Hold> holds = new ArrayList<>();
        for (String[] words : lines("hold")) {
            holds.add(new Hold(
                    words[1],
                    Boolean.parseBoolean(words[2]),
                    Long.parseLong(words[3]),
                    Long.parseLong(words[4]),
                    Long.parseLong(words[5])));
        }
        return holds;
    }

    List<Write> writes() throws IOException {
        List<Write> writes = new ArrayList<>();
        for (String[] words : lines("write")) {
            writes.add(new Write(words[1], List.of(words[2].split(",", -1)), Write.Outcome.valueOf(words[3])));
        }
        return writes;
    }

    /** The long stay that the process is in. */
    Optional<Stay> stay() throws IOException {
        List<String[]> stays = lines("stay");
        if (stays.isEmpty()) {
            return Optional.empty();
        }
        String[] words = stays.get(stays.size() - 1);
        Stay last = new Stay(Way.valueOf(words[1]), words[2]);
        return outcome(last).isPresent() ? Optional.empty() : Optional.of(last);
    }

    /** The outcome of the write at its end. */
    Optional<Write.Outcome> outcome(Stay stay) throws IOException {
        return writes().stream()
                .filter(write -> write.id().equals(stay.writeId()))
                .map(Write::outcome)
                .findFirst();
    }

    private List<String[]> lines(String kind) throws IOException {
        String text = Files.readString(file);
        return text.substring(0, text.lastIndexOf('\n') + 1) // a line may be under way
                .lines()
                .map(line -> line.split(" ", -1))
                .filter(words -> words[0].equals(kind))
                .toList();
    }
}
