// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench;

import java.io.PrintWriter;
import java.util.Locale;

/** A line with the progress of a run, which replaces itself on a terminal. */
final class Progress {
    private final PrintWriter out;
    private final boolean terminal;
    private final int turns;
    private int turn;
    private String shown = "";

    Progress(PrintWriter out, boolean terminal, int turns) {
        this.out = out;
        this.terminal = terminal;
        this.turns = turns;
    }

    /** The next turn begins. */
    void next(String what) {
        turn++;
        show(String.format(Locale.ROOT, "[%d/%d] %s", turn, turns, what));
    }

    /** Starts a step that is not a turn. */
    void note(String what) {
        show(what);
    }

    /** Into a file or a pipe, writes only lines that stay. */
    private void show(String line) {
        if (terminal) {
            out.print("\r" + line + " ".repeat(Math.max(0, shown.length() - line.length())) + "\r" + line);
        } else {
            out.println(line);
        }
        out.flush();
        shown = line;
    }

    /** Makes room for text that stays. */
    void clear() {
        if (terminal) {
            out.print("\r" + " ".repeat(shown.length()) + "\r");
            out.flush();
        }
        shown = "";
    }
}
