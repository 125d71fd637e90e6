// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.manual;

import java.util.List;

/** Writes a page in the {@code man} macros of roff. All text is taken literally. */
final class Roff {
    private final StringBuilder page = new StringBuilder();

    Roff(String title, String footer, String header) {
        page.append(".TH ").append(quoted(title)).append(" 1 \"\" ");
        page.append(quoted(footer)).append(' ').append(quoted(header)).append('\n');
        page.append(".nh\n.ad l\n"); // so that text copied from the page is neither hyphenated nor stretched
    }

    void section(String name) {
        page.append(".SH ").append(quoted(name)).append('\n');
    }

    void paragraph(String text) {
        page.append(".PP\n").append(line(text)).append('\n');
    }

    /** Text right below the title of a section. */
    void text(String text) {
        page.append(line(text)).append('\n');
    }

    /** A term and, indented, its explanation. */
    void item(String term, List<String> explanation) {
        page.append(".TP\n\\fB").append(inline(term)).append("\\fR\n");
        lines(explanation);
        if (explanation.isEmpty()) {
            page.append("\\&\n");
        }
    }

    /** Each begins a new line, and is broken where the page ends. */
    void lines(List<String> texts) {
        String separator = "";
        for (String text : texts) {
            page.append(separator).append(line(text)).append('\n');
            separator = ".br\n";
        }
    }

    /** Lines that stay as they are. */
    void verbatim(List<String> lines) {
        page.append(".PP\n.nf\n");
        lines.forEach(each -> page.append(line(each)).append('\n'));
        page.append(".fi\n");
    }

    @Override
    public String toString() {
        return page.toString();
    }

    private static String quoted(String text) {
        return '"' + inline(text) + '"';
    }

    /** A line of text; roff takes a dot or an apostrophe at its begin for a request. */
    private static String line(String text) {
        String escaped = inline(text);
        return escaped.startsWith(".") ? "\\&" + escaped : escaped;
    }

    private static String inline(String text) {
        StringBuilder escaped = new StringBuilder();
        text.codePoints().forEach(c -> {
            switch (c) {
                case '\\' -> escaped.append("\\(rs");
                case '-' -> escaped.append("\\-");
                case '\'' -> escaped.append("\\(aq");
                case '`' -> escaped.append("\\(ga");
                case '^' -> escaped.append("\\(ha");
                case '~' -> escaped.append("\\(ti");
                case '"' -> escaped.append("\\(dq");
                case '\n', '\r', '\t' -> escaped.append(' ');
                default -> {
                    if (c < 128) {
                        escaped.appendCodePoint(c);
                    } else {
                        escaped.append(String.format("\\[u%04X]", c));
                    }
                }
            }
        });
        return escaped.toString();
    }
}
