// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.text;

/**
 * Makes text that others wrote into ZooKeeper fit for a terminal: it cannot move the cursor, forge a line, or hide or
 * reorder what it says.
 */
public final class PlainText {
    private PlainText() {}

    /**
     * The text, with a number in place of each character that is not plain.
     *
     * @param text from wherever
     * @return a line
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
     * As {@link #of(String)}, cut after so many characters.
     *
     * @param text from wherever
     * @param longest how many characters of it to show
     * @return a line
     */
    public static String of(String text, int longest) {
        int end = text.offsetByCodePoints(0, Math.min(longest, text.codePointCount(0, text.length())));
        return end == text.length() ? of(text) : of(text.substring(0, end)) + "...";
    }

    /**
     * Whether a terminal shows it, and nothing else happens.
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
