// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.cli.text.PlainText;
import java.io.PrintWriter;

/** What zklock itself says: lines on standard error, which otherwise belongs to the command. */
final class Notes {
    private final PrintWriter err;
    private final boolean verbose;

    Notes(PrintWriter err, boolean verbose) {
        this.err = err;
        this.verbose = verbose;
    }

    /** What went wrong. */
    void warn(String line) {
        err.println("zklock: " + PlainText.of(line));
        err.flush();
    }

    /** What {@code --verbose} asks for. */
    void tell(String line) {
        if (verbose) {
            warn(line);
        }
    }
}
