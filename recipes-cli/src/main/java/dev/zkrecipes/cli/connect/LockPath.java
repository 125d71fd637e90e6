// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import org.apache.zookeeper.common.PathUtils;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The path of a lock, refused before anything is sent if no lock can have it. */
public final class LockPath implements ITypeConverter<String> {
    /** Made by the command line. */
    public LockPath() {}

    @Override
    public String convert(String value) {
        try {
            PathUtils.validatePath(value);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException("'" + shown(value) + "' is no path of a lock: "
                    + shown(String.valueOf(e.getMessage())) + "; give one such as /locks/nightly");
        }
        if (!value.equals(shown(value))) {
            throw new TypeConversionException("'" + shown(value) + "' is no path of a lock: it holds a character that"
                    + " cannot be shown; give one such as /locks/nightly");
        }
        return value;
    }

    /** What cannot be shown, as a question mark, so that it forges no line. */
    private static String shown(String text) {
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
