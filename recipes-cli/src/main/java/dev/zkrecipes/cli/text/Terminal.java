// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.text;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The terminal of this process. Java knows little about it, so this class runs shell commands. */
public final class Terminal {
    private static final Pattern SIZE = Pattern.compile("(\\d{1,4}) (\\d{1,4})\\s*");

    /**
     * The size of a terminal, in characters.
     *
     * @param rows the number of rows
     * @param columns the number of columns
     */
    public record Size(int rows, int columns) {}

    private Terminal() {}

    /**
     * Whether standard output is a terminal that understands the usual escape sequences.
     *
     * @return whether it is
     */
    public static boolean isOutput() {
        String kind = System.getenv("TERM");
        return kind != null
                && !kind.equals("dumb")
                && run("test -t 1", Redirect.INHERIT).isPresent();
    }

    /**
     * Returns the current size of the terminal. The user may change it at any time.
     *
     * @return the size; 24 rows and 80 columns if it is unknown
     */
    public static Size size() {
        return run("stty size </dev/tty", Redirect.PIPE)
                .map(SIZE::matcher)
                .filter(Matcher::matches)
                .map(found -> new Size(Integer.parseInt(found.group(1)), Integer.parseInt(found.group(2))))
                .filter(size -> size.rows() > 1 && size.columns() > 1)
                .orElse(new Size(24, 80));
    }

    /** Runs a shell command. Returns its output; empty if it failed. */
    private static Optional<String> run(String command, Redirect output) {
        try {
            Process process = new ProcessBuilder(List.of("/bin/sh", "-c", command))
                    .redirectInput(Redirect.INHERIT)
                    .redirectOutput(output)
                    .redirectError(Redirect.DISCARD)
                    .start();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            return process.waitFor() == 0 ? Optional.of(text) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
