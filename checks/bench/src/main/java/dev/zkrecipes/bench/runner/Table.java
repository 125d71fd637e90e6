// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.runner;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Rows of cells below a header, as CSV or Markdown. */
public final class Table {
    private static final MathContext DIGITS = new MathContext(4);

    private final List<List<String>> rows = new ArrayList<>();

    /** A table with these columns. */
    public Table(List<String> header) {
        rows.add(header);
    }

    /** A table with columns whose names have no commas. */
    public static Table of(String header) {
        return new Table(List.of(header.split(",", -1)));
    }

    /**
     * Adds a row.
     *
     * @throws IllegalArgumentException if it has not as many cells as the header
     */
    public void add(Object... cells) {
        if (cells.length != rows.get(0).size()) {
            throw new IllegalArgumentException(
                    cells.length + " cells for " + rows.get(0).size() + " columns");
        }
        rows.add(Stream.of(cells)
                .map(cell -> cell instanceof Double number ? digits(number) : cell.toString())
                .toList());
    }

    /** Comma-separated values after RFC 4180, with a line feed at the end of each line. */
    public String csv() {
        return lines(row -> row.stream().map(Table::quoted).collect(Collectors.joining(",")), "");
    }

    private static String quoted(String cell) {
        boolean plain = cell.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return plain ? cell : '"' + cell.replace("\"", "\"\"") + '"';
    }

    /** The table of a page: the first column is of words, the others are of numbers. */
    public String markdown() {
        return lines(
                row -> "| " + String.join(" | ", row) + " |",
                "|---" + "|---:".repeat(rows.get(0).size() - 1) + "|\n");
    }

    private String lines(Function<List<String>, String> form, String rule) {
        List<String> lines = rows.stream().map(row -> form.apply(row) + "\n").toList();
        return lines.get(0) + rule + String.join("", lines.subList(1, lines.size()));
    }

    /** A number as a reader wants it: four digits, and all of those in front of the point. */
    public static String digits(double value) {
        return Math.abs(value) >= 10_000
                ? Long.toString(Math.round(value))
                : new BigDecimal(value).round(DIGITS).stripTrailingZeros().toPlainString();
    }

    /** A whole number, with commas. */
    public static String whole(double value) {
        return String.format(Locale.ROOT, "%,.0f", value);
    }

    /** A number with one digit after the point. */
    public static String tenths(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
