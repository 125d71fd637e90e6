// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Creates the errors for mistakes on the command line, and in the files and variables that it uses. */
public final class Mistake {
    private Mistake() {}

    /**
     * Creates the error to throw.
     *
     * @param spec the command that has the mistake; null if the command line was read without picocli
     * @param message what is wrong, and what to do
     * @return the error
     */
    public static ParameterException of(@Nullable CommandSpec spec, String message) {
        return new ParameterException(
                spec == null ? new CommandLine(CommandSpec.create()) : spec.commandLine(), message);
    }

    /**
     * Refuses a text that begins with a byte-order mark. Some editors write one, nobody sees it, and it would become
     * part of the first name in the text.
     */
    static void refuseByteOrderMark(String text, String source) {
        if (text.startsWith("\ufeff")) {
            throw new IllegalArgumentException(
                    source + " begins with a byte-order mark: save it as UTF-8 without one (BOM)");
        }
    }
}
