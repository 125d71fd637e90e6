// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

/**
 * Makes text from users safe for messages and logs. Such text must not be able to forge a log line or to hide what
 * follows.
 */
public final class Printable {
    private static final int LONGEST = 300; // in characters

    private Printable() {}

    /**
     * Returns at most the first 300 characters of the text. Each character that is not plain is replaced by its code
     * point in hexadecimal.
     */
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

    /**
     * Whether a character is visible or a space. Formatting characters are not plain, because they can reverse or hide
     * text.
     */
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
