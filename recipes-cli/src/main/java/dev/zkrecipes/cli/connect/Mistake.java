// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** A mistake on a command line. */
public final class Mistake {
    private Mistake() {}

    /**
     * The error to throw.
     *
     * @param spec the command, which picocli reports it for; null if picocli has not read the command line
     * @param message what is wrong, and what to do
     * @return the error
     */
    public static ParameterException of(@Nullable CommandSpec spec, String message) {
        return new ParameterException(
                spec == null ? new CommandLine(CommandSpec.create()) : spec.commandLine(), message);
    }

    /** Some editors put one in front of a text, where nobody sees it. */
    static void refuseByteOrderMark(String text, String source) {
        if (text.startsWith("\ufeff")) {
            throw new IllegalArgumentException(
                    source + " begins with a byte-order mark: save it as UTF-8 without one (BOM)");
        }
    }
}
