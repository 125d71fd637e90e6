// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import org.jspecify.annotations.Nullable;
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
     * @param cause what found it
     * @return the error
     * @throws UnreportedException if picocli has not read the command line
     */
    public static ParameterException of(@Nullable CommandSpec spec, String message, @Nullable Throwable cause) {
        if (spec == null) {
            throw new UnreportedException(message, cause);
        }
        return new ParameterException(spec.commandLine(), message, cause);
    }

    /** Some editors put one in front of a text, where nobody sees it. */
    static void refuseByteOrderMark(String text, String source) {
        if (text.startsWith("\ufeff")) {
            throw new IllegalArgumentException(
                    source + " begins with a byte-order mark: save it as UTF-8 without one (BOM)");
        }
    }

    /**
     * A mistake on a command line that was read without picocli. It is not read a second time, as the files that it
     * names may be pipes: whoever catches this reports the message.
     */
    public static final class UnreportedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnreportedException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }
}
