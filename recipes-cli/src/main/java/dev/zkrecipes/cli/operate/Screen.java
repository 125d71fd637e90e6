// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.text.Terminal;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * Shows one state after another. On a terminal it draws each state in place of the previous one; otherwise it prints
 * the states one below the other.
 */
final class Screen {
    private static final String HOME = "\033[H";
    private static final String CLEAR_LINE = "\033[K";
    private static final String CLEAR_BELOW = "\033[J";

    private final PrintWriter out;
    private final boolean blocks;
    private final boolean drawn;
    private boolean shown;

    /**
     * Prepares the output.
     *
     * @param blocks true for people: states are drawn on a terminal, and separated by blank lines elsewhere; false
     *     for programs: states follow each other without blank lines
     */
    Screen(PrintWriter out, boolean blocks) {
        this.out = out;
        this.blocks = blocks;
        this.drawn = blocks && Terminal.isOutput();
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
            out.print(frame(lines, Terminal.size())); // the user may have resized it
        } else {
            out.println((shown && blocks ? System.lineSeparator() : "") + String.join(System.lineSeparator(), lines));
        }
        shown = true;
        return !out.checkError();
    }

    /** Builds the whole screen as one text, so that it is written at once and does not flicker. */
    static String frame(List<String> lines, Terminal.Size size) {
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
}
