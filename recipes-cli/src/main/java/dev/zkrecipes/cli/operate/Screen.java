// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Shows one state after another. On a terminal it draws each state in place of the previous one; otherwise it prints
 * the states one below the other.
 */
final class Screen {
    private static final String HOME = "\033[H";
    private static final String CLEAR_LINE = "\033[K";
    private static final Pattern SIZE = Pattern.compile("(\\d{1,4}) (\\d{1,4})\\s*");
    private static final String CLEAR_BELOW = "\033[J";

    private final PrintWriter out;
    private final boolean blocks;
    private final boolean drawn;
    private boolean shown;

    /** The size of a terminal, in characters. */
    record Size(int rows, int columns) {}

    /**
     * Prepares the output.
     *
     * @param blocks true for people: states are drawn on a terminal, and separated by blank lines elsewhere; false
     *     for programs: states follow each other without blank lines
     */
    Screen(PrintWriter out, boolean blocks) {
        this.out = out;
        this.blocks = blocks;
        this.drawn = blocks && isTerminal();
    }

    /** Whether states are drawn in place of each other. */
    boolean isDrawn() {
        return drawn;
    }

    /**
     * Shows a state.
     *
     * @return whether anybody still reads the output
     */
    boolean show(List<String> lines) {
        if (drawn) {
            out.print(frame(lines, size()));
        } else {
            out.println((shown && blocks ? System.lineSeparator() : "") + String.join(System.lineSeparator(), lines));
        }
        shown = true;
        return !out.checkError();
    }

    /** Builds the whole screen as one text, so that it is written at once and does not flicker. */
    static String frame(List<String> lines, Size size) {
        List<String> fitting = new ArrayList<>(lines);
        int room = size.rows() - 1;
        if (fitting.size() > room) {
            int hidden = fitting.size() - (room - 1);
            fitting.subList(room - 1, fitting.size()).clear();
            fitting.add("... " + hidden + " more lines");
        }
        StringBuilder frame = new StringBuilder(HOME);
        for (String line : fitting) {
            frame.append(cut(line, size.columns())).append(CLEAR_LINE).append("\r\n");
        }
        return frame.append(CLEAR_BELOW).toString();
    }

    private static String cut(String line, int columns) {
        int length = line.codePointCount(0, line.length());
        return length <= columns ? line : line.substring(0, line.offsetByCodePoints(0, columns));
    }

    /**
     * Whether standard output is a terminal that understands the usual escape sequences. Java does not tell whether
     * it is a terminal, so the shell is asked.
     */
    private static boolean isTerminal() {
        String kind = System.getenv("TERM");
        return kind != null
                && !kind.equals("dumb")
                && run("test -t 1", Redirect.INHERIT).isPresent();
    }

    /** Asks the terminal for its size, before each state, because the user may have changed it. */
    private static Size size() {
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
