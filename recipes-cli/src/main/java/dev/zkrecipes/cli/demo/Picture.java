// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.cli.demo.Ledger.Entry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Draws from the ledger who held when: each row is a worker, and each column is a moment. */
final class Picture {
    private static final int COLUMNS = 72;

    private Picture() {}

    /** Draws the time between two moments. Entries from before it set the state that the first column shows. */
    static List<String> of(List<Entry> entries, long from, long to) {
        char[][] rows = new char[Demo.WORKERS][COLUMNS];
        char[] now = new char[Demo.WORKERS];
        Arrays.fill(now, ' ');
        int next = 0;
        for (int column = 0; column < COLUMNS; column++) {
            long instant = from + (to - from) / COLUMNS * column;
            for (; next < entries.size() && entries.get(next).at() <= instant; next++) {
                Entry entry = entries.get(next);
                now[entry.worker() - 1] = mark(entry);
            }
            for (int worker = 0; worker < now.length; worker++) {
                rows[worker][column] = now[worker];
            }
        }
        List<String> lines = new ArrayList<>();
        for (int worker = 0; worker < now.length; worker++) {
            lines.add(("  w" + (worker + 1) + "  " + String.valueOf(rows[worker])).stripTrailing());
        }
        return lines;
    }

    private static char mark(Entry entry) {
        return switch (entry.what()) {
            case ASKS -> '.';
            case IN -> '#';
            case IDLES -> '=';
            case KILLED -> 'x';
            case OUT, LOST, FAILS -> ' ';
        };
    }
}
