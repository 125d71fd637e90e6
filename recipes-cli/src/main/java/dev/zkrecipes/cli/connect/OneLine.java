// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

/** Text that others have written, made fit for a line of ours: it cannot forge a line or hide what it says. */
public final class OneLine {
    private OneLine() {}

    /**
     * Returns the text with a question mark for every character that cannot be shown.
     *
     * @param text from wherever
     * @return a line
     */
    public static String of(String text) {
        StringBuilder plain = new StringBuilder();
        text.codePoints().map(c -> isPlain(c) ? c : '?').forEach(plain::appendCodePoint);
        return plain.toString();
    }

    private static boolean isPlain(int codePoint) {
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
