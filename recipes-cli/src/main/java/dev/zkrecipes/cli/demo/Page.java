// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/** Where the demo prints: lines of at most 80 columns, longer ones wrapped below their text. Thread-safe. */
final class Page {
    static final int WIDTH = 80;

    @GuardedBy("this")
    private final PrintStream out;

    private final boolean colour;

    @GuardedBy("this")
    private boolean closed;

    Page(PrintStream out, boolean colour) {
        this.out = out;
        this.colour = colour;
    }

    void print(Tone tone, String text) {
        print("", Tone.PLAIN, tone, text);
    }

    /**
     * Prints a head and a text beside it.
     *
     * @param head of fixed width; printed once
     * @param text wrapped to the right of the head
     */
    synchronized void print(String head, Tone headTone, Tone tone, String text) {
        if (closed) {
            return;
        }
        String margin = head;
        for (String line : wrap(text, WIDTH - head.length())) {
            String painted = paint(headTone, margin) + paint(tone, line);
            out.println(painted.isBlank() ? "" : painted);
            margin = " ".repeat(head.length());
        }
        out.flush();
    }

    /** Prints a last line. Drops whatever others print afterwards. */
    synchronized void close(Tone tone, String text) {
        print(tone, text);
        closed = true;
    }

    private String paint(Tone tone, String text) {
        return colour && !text.isBlank() ? tone.paint(text) : text;
    }

    /** Breaks at blanks, and within words that are longer than a line. Runs of blanks within a line stay. */
    private static List<String> wrap(String text, int width) {
        List<String> lines = new ArrayList<>();
        String rest = text.stripTrailing();
        while (rest.length() > width) {
            int blank = rest.lastIndexOf(' ', width);
            int end = blank > 0 ? blank : width;
            lines.add(rest.substring(0, end).stripTrailing());
            rest = rest.substring(end).strip();
        }
        lines.add(rest);
        return lines;
    }
}
