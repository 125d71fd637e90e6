// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.text;

/**
 * Makes text safe for a terminal. Anybody with access to ZooKeeper may write node names and labels. Printed unchanged,
 * they could move the cursor, forge a line, or hide or reorder text.
 */
public final class PlainText {
    private PlainText() {}

    /**
     * Replaces each character that is not plain by its code point in hexadecimal.
     *
     * @param text text from any source
     * @return one line of plain text
     */
    public static String of(String text) {
        StringBuilder shown = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            if (isPlain(c)) {
                shown.appendCodePoint(c);
            } else {
                shown.append(String.format("\\u%04x", c));
            }
        });
        return shown.toString();
    }

    /**
     * Makes a text plain, as {@link #of(String)} does, and cuts it if it is too long.
     *
     * @param text text from any source
     * @param longest how many characters of the text to show
     * @return one line of plain text; it ends in three dots if it was cut
     */
    public static String of(String text, int longest) {
        int end = text.offsetByCodePoints(0, Math.min(longest, text.codePointCount(0, text.length())));
        return end == text.length() ? of(text) : of(text.substring(0, end)) + "...";
    }

    /**
     * Whether a terminal displays a character and does nothing else.
     *
     * @param codePoint a character
     * @return whether it is plain
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
