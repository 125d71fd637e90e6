// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import picocli.CommandLine;

/**
 * What a command did in this JVM.
 *
 * @param code its exit code
 * @param out what it printed
 * @param err what it complained of
 */
public record Ran(int code, String out, String err) {

    /** Runs {@code zklock} with these arguments. */
    public static Ran zklock(String... arguments) {
        return run(ZkLock.commandLine(), arguments);
    }

    /** Runs a command that a test made itself, with the manners of {@code zklock}. */
    public static Ran command(Object command, String... arguments) {
        return run(commandLine(command).setStopAtPositional(false), arguments);
    }

    /** A {@code run}, {@code lead} or {@code hold} that a test made itself, with the manners of {@code zklock}. */
    public static CommandLine commandLine(Object command) {
        CommandLine manners = ZkLock.runAlone();
        return new CommandLine(command)
                .setStopAtPositional(manners.isStopAtPositional())
                .setExpandAtFiles(manners.isExpandAtFiles())
                .setCaseInsensitiveEnumValuesAllowed(manners.isCaseInsensitiveEnumValuesAllowed())
                .setParameterExceptionHandler(manners.getParameterExceptionHandler())
                .setExecutionExceptionHandler(manners.getExecutionExceptionHandler());
    }

    static Ran run(CommandLine command, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = command.setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
        return new Ran(code, out.toString(), err.toString());
    }

    public List<String> lines() {
        return out.lines().toList();
    }
}
