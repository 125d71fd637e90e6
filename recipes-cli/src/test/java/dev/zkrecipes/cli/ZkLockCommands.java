// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** Commands that a test made itself, run with the manners of {@code zklock}. */
public final class ZkLockCommands {
    private ZkLockCommands() {}

    /** Runs a command of its own. */
    public static Ran run(Object command, String... arguments) {
        CommandLine manners = ZkLock.commandLine();
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = new CommandLine(command)
                .setParameterExceptionHandler(manners.getParameterExceptionHandler())
                .setExecutionExceptionHandler(manners.getExecutionExceptionHandler())
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
        return new Ran(code, out.toString(), err.toString());
    }
}
