// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.text;

import java.io.PrintWriter;

/**
 * Prints lines for people. On a terminal, lines are wrapped to its width, and some words have a colour, unless {@code
 * $NO_COLOR} forbids colours. Elsewhere, lines are neither wrapped nor coloured, for {@code grep} and the like.
 */
public final class Page {
    private static final String PLAIN = "\033[m";

    private final PrintWriter out;
    private final int columns;
    private final boolean coloured;

    /** The colour of a word on a terminal. */
    public enum Colour {
        /** All is well. */
        GREEN("\033[32m"),
        /** There is something to do. */
        RED("\033[1;31m"),
        /** The head of a table. */
        BOLD("\033[1m");

        private final String sequence;

        Colour(String sequence) {
            this.sequence = sequence;
        }
    }

    Page(PrintWriter out, int columns, boolean coloured) {
        this.out = out;
        this.columns = columns;
        this.coloured = coloured;
    }

    /**
     * Returns a page for standard output.
     *
     * @param out the writer to standard output
     * @return the page
     */
    public static Page of(PrintWriter out) {
        boolean isTerminal = Terminal.isOutput();
        String forbidden = System.getenv("NO_COLOR"); // https://no-color.org: an empty value does not count
        return new Page(
                out,
                isTerminal ? Terminal.size().columns() : Integer.MAX_VALUE,
                isTerminal && (forbidden == null || forbidden.isEmpty()));
    }

    /**
     * Prints a line whose first words have a colour.
     *
     * @param colour the colour of the first words
     * @param length the number of characters that have the colour; in a wrapped line, only those in the first piece
     *     have it
     * @param line the line
     * @param indent the number of columns before the second and later pieces of a wrapped line
     */
    public void show(Colour colour, int length, String line, int indent) {
        String pieces = fitted(line, indent);
        int end = Math.min(length, (pieces + System.lineSeparator()).indexOf(System.lineSeparator()));
        out.println(coloured ? colour.sequence + pieces.substring(0, end) + PLAIN + pieces.substring(end) : pieces);
    }

    /**
     * Prints a line without a colour.
     *
     * @param line the line
     * @param indent the number of columns before the second and later pieces of a wrapped line
     */
    public void show(String line, int indent) {
        out.println(fitted(line, indent));
    }

    /** Wraps a line at spaces. A word that is wider than the page stays in one piece. */
    private String fitted(String line, int indent) {
        String margin = " ".repeat(Math.min(indent, columns / 2));
        StringBuilder pieces = new StringBuilder();
        String left = line;
        int least = 1; // so that each piece has a word
        while (left.length() > columns) {
            int end = left.lastIndexOf(' ', columns);
            end = end < least ? left.indexOf(' ', columns) : end;
            if (end < 0) {
                break;
            }
            pieces.append(left.substring(0, end).stripTrailing()).append(System.lineSeparator());
            left = margin + left.substring(end).stripLeading();
            least = margin.length() + 1;
        }
        return pieces.append(left).toString();
    }
}
