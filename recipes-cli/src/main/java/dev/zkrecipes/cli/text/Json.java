// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.text;

import java.util.List;
import java.util.Map;

/**
 * Writes JSON (RFC 8259) on one line. Every character that could harm a terminal is escaped, even where JSON does not
 * require it. A JSON parser returns the original text.
 */
public final class Json {
    private Json() {}

    /**
     * Writes a value.
     *
     * @param value a string, integer, boolean, a list of values, or a map from names to values, in its order
     * @return the text
     */
    public static String of(Object value) {
        StringBuilder out = new StringBuilder();
        append(out, value);
        return out.toString();
    }

    private static void append(StringBuilder out, Object value) {
        if (value instanceof String text) {
            appendText(out, text);
        } else if (value instanceof Integer || value instanceof Long || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof List<?> list) {
            appendList(out, list);
        } else if (value instanceof Map<?, ?> map) {
            appendMap(out, map);
        } else {
            throw new IllegalArgumentException("no JSON for a " + value.getClass());
        }
    }

    private static void appendList(StringBuilder out, List<?> list) {
        out.append('[');
        String separator = "";
        for (Object each : list) {
            out.append(separator);
            append(out, each);
            separator = ",";
        }
        out.append(']');
    }

    private static void appendMap(StringBuilder out, Map<?, ?> map) {
        out.append('{');
        String separator = "";
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            out.append(separator);
            appendText(out, (String) entry.getKey());
            out.append(':');
            append(out, entry.getValue());
            separator = ",";
        }
        out.append('}');
    }

    private static void appendText(StringBuilder out, String text) {
        out.append('"');
        text.codePoints().forEach(c -> {
            if (c == '"' || c == '\\') {
                out.append('\\').append((char) c);
            } else if (PlainText.isPlain(c)) {
                out.appendCodePoint(c);
            } else {
                for (char half : Character.toChars(c)) {
                    out.append(String.format("\\u%04x", (int) half));
                }
            }
        });
        out.append('"');
    }
}
