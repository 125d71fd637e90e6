// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Shows one state after the other: in place of the previous one on a terminal, otherwise after it. */
final class Screen {
    private static final String HOME = "\033[H";
    private static final String CLEAR_LINE = "\033[K";
    private static final String CLEAR_BELOW = "\033[J";

    private final PrintWriter out;
    private final Manner manner;
    private boolean shown;

    /** How one state follows another. */
    enum Manner {
        /** In place of the previous one, on a terminal. */
        DRAWN,
        /** After it and a blank line. */
        BLOCKS,
        /** After it, for programs. */
        LINES
    }

    Screen(PrintWriter out, Manner manner) {
        this.out = out;
        this.manner = manner;
    }

    /**
     * Shows a state.
     *
     * @return whether anybody reads
     */
    boolean show(List<String> lines) {
        switch (manner) {
            case DRAWN -> out.print(frame(lines, Terminal.size()));
            case BLOCKS, LINES -> {
                if (shown && manner == Manner.BLOCKS) {
                    out.println();
                }
                out.println(String.join(System.lineSeparator(), lines));
            }
        }
        shown = true;
        return !out.checkError();
    }

    /** In one piece, so that nobody sees it being drawn. */
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
