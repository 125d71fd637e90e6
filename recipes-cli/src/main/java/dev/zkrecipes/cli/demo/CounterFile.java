// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The file that the workers of the mutex demo count in: the value, and the token of its writer. Nothing but the mutex
 * keeps two of them from writing the same value.
 */
final class CounterFile {
    private static final Pattern CONTENT = Pattern.compile("(\\d{1,18}) (\\d{1,19})\n");

    private final Path file;

    /**
     * The content of the file.
     *
     * @param value how often it was incremented
     * @param token of the last increment; 0 if there was none
     */
    record Counter(long value, long token) {
        static final Counter ZERO = new Counter(0, 0);

        Counter next(long writer) {
            return new Counter(value + 1, writer);
        }
    }

    CounterFile(Path folder) {
        this.file = folder.resolve("counter");
    }

    Counter read() throws IOException {
        try {
            String content = Files.readString(file, StandardCharsets.US_ASCII);
            Matcher matcher = CONTENT.matcher(content);
            if (!matcher.matches()) {
                throw new IOException(file + " is damaged: it does not hold a value and a token");
            }
            return new Counter(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2)));
        } catch (NoSuchFileException e) {
            return Counter.ZERO;
        }
    }

    /** Replaces the file as a whole, so that a writer that is killed leaves the old content or the new one. */
    void write(Counter counter) throws IOException {
        Path prepared = file.resolveSibling("counter." + ProcessHandle.current().pid());
        Files.writeString(prepared, counter.value() + " " + counter.token() + "\n", StandardCharsets.US_ASCII);
        Files.move(prepared, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
