// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Comma-separated values after RFC 4180, with a line feed at the end of each line. */
public final class Csv {
    private final int columns;
    private final List<String> lines = new ArrayList<>();

    /** An empty one with these columns. */
    public Csv(String... header) {
        this.columns = header.length;
        add((Object[]) header);
    }

    /**
     * Adds a line.
     *
     * @throws IllegalArgumentException if it has not as many values as the header
     */
    public void add(Object... values) {
        if (values.length != columns) {
            throw new IllegalArgumentException(values.length + " values for " + columns + " columns");
        }
        lines.add(List.of(values).stream().map(Csv::field).collect(Collectors.joining(",")));
    }

    private static String field(Object value) {
        String text = value instanceof Double number ? Rounding.of(number) : value.toString();
        boolean quoted = text.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return quoted ? '"' + text.replace("\"", "\"\"") + '"' : text;
    }

    @Override
    public String toString() {
        return String.join("\n", lines) + "\n";
    }
}
