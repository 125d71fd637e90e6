// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The file in which every worker writes a line after it enters and before it leaves. Each line is one append, so the
 * order of the lines is the order of events, whatever the locks say.
 */
final class Ledger {
    private static final Pattern LINE = Pattern.compile("(\\d{1,10}) (\\S{1,200})");
    private static final String OUT = "-";

    private final Path file;

    /**
     * One line.
     *
     * @param pid the process
     * @param share what it holds from now on; empty if nothing
     */
    record Entry(long pid, String share) {}

    Ledger(Path folder) {
        this.file = folder.resolve("ledger");
    }

    void in(long pid, String share) throws IOException {
        append(pid, share);
    }

    void out(long pid) throws IOException {
        append(pid, OUT);
    }

    private void append(long pid, String what) throws IOException {
        Files.writeString(
                file,
                pid + " " + what + "\n",
                StandardCharsets.US_ASCII,
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    List<Entry> entries() throws IOException {
        List<Entry> entries = new ArrayList<>();
        if (Files.exists(file)) {
            for (String line : Files.readAllLines(file, StandardCharsets.US_ASCII)) {
                Matcher matcher = LINE.matcher(line);
                if (!matcher.matches()) {
                    throw new IOException(file + " is damaged: it has the line \"" + line + "\"");
                }
                String share = matcher.group(2);
                entries.add(new Entry(Long.parseLong(matcher.group(1)), share.equals(OUT) ? "" : share));
            }
        }
        return entries;
    }
}
