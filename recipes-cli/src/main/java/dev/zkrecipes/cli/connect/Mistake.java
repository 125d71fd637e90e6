// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** A mistake on a command line, which picocli reports. */
public final class Mistake {
    private Mistake() {}

    /**
     * The error to throw.
     *
     * @param spec the command; null if picocli has not read its command line
     * @param message what is wrong, and what to do
     * @param cause what found it
     * @return the error
     * @throws ForPicocliException if picocli has not read the command line
     */
    public static ParameterException of(@Nullable CommandSpec spec, String message, @Nullable Throwable cause) {
        if (spec == null) {
            throw new ForPicocliException();
        }
        return new ParameterException(spec.commandLine(), message, cause);
    }

    /** The command line was read without picocli and has a mistake: picocli is to read it, and to report what it finds. */
    public static final class ForPicocliException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }
}
