// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import java.util.ArrayList;
import java.util.List;

/** Lines of columns, each as wide as its widest entry. */
final class Table {
    private final List<Column> columns;
    private final List<List<String>> rows = new ArrayList<>();

    /**
     * A column.
     *
     * @param title its heading
     * @param right whether its entries stand at its right edge, as numbers do
     */
    record Column(String title, boolean right) {
        static Column left(String title) {
            return new Column(title, false);
        }

        static Column right(String title) {
            return new Column(title, true);
        }
    }

    Table(List<Column> columns) {
        this.columns = columns;
        rows.add(columns.stream().map(Column::title).toList());
    }

    void add(List<String> row) {
        rows.add(row);
    }

    List<String> lines() {
        int[] widths = new int[columns.size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], width(row.get(i)));
            }
        }
        return rows.stream().map(row -> line(row, widths)).toList();
    }

    private String line(List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String padding = " ".repeat(widths[i] - width(row.get(i)));
            line.append(columns.get(i).right() ? padding + row.get(i) : row.get(i) + padding)
                    .append("  ");
        }
        return line.toString().stripTrailing();
    }

    private static int width(String text) {
        return text.codePointCount(0, text.length());
    }
}
