// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

/** Makes text from users fit for messages and logs: it can neither forge a line nor hide text. */
public final class Printable {
    private static final int LONGEST = 300;

    private Printable() {}

    /** At most the first 300 characters; what is no plain character as its number. */
    public static String of(String text) {
        StringBuilder shown = new StringBuilder();
        text.codePoints().limit(LONGEST).forEach(c -> {
            if (isPlain(c)) {
                shown.appendCodePoint(c);
            } else {
                shown.append(String.format("\\u%04x", c));
            }
        });
        return text.length() > LONGEST ? shown.append("...").toString() : shown.toString();
    }

    public static boolean isPlain(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
