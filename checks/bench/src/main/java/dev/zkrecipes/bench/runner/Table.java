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

    /** Creates a table with these columns. */
    public Table(List<String> header) {
        rows.add(header);
    }

    /** Creates a table from the names of its columns, separated by commas. */
    public static Table of(String header) {
        return new Table(List.of(header.split(",", -1)));
    }

    /**
     * Adds a row.
     *
     * @throws IllegalArgumentException if the row does not have as many cells as the header
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

    /** Returns comma-separated values as in RFC 4180, but with a line feed at the end of each line. */
    public String csv() {
        return lines(row -> row.stream().map(Table::quoted).collect(Collectors.joining(",")), "");
    }

    private static String quoted(String cell) {
        boolean plain = cell.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return plain ? cell : '"' + cell.replace("\"", "\"\"") + '"';
    }

    /**
     * Returns a table in Markdown. The first column is for words, and the others are for numbers, which are aligned
     * right.
     */
    public String markdown() {
        return lines(
                row -> "| " + String.join(" | ", row) + " |",
                "|---" + "|---:".repeat(rows.get(0).size() - 1) + "|\n");
    }

    private String lines(Function<List<String>, String> form, String rule) {
        List<String> lines = rows.stream().map(row -> form.apply(row) + "\n").toList();
        return lines.get(0) + rule + String.join("", lines.subList(1, lines.size()));
    }

    /** Formats a number with four significant digits, but always with all digits before the decimal point. */
    public static String digits(double value) {
        return Math.abs(value) >= 10_000
                ? Long.toString(Math.round(value))
                : new BigDecimal(value).round(DIGITS).stripTrailingZeros().toPlainString();
    }

    /** Formats a number without its fraction, and with commas between the thousands. */
    public static String whole(double value) {
        return String.format(Locale.ROOT, "%,.0f", value);
    }

    /** Formats a number with one digit after the decimal point. */
    public static String tenths(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
