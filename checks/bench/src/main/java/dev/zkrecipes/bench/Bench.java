// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench;

import com.google.common.base.Throwables;
import dev.zkrecipes.bench.compare.Compare;
import dev.zkrecipes.bench.faults.Faults;
import dev.zkrecipes.bench.scale.Scale;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;

/** The main class of all commands. */
public final class Bench {
    private Bench() {}

    /**
     * Runs a command and ends the JVM with its exit code.
     *
     * @param args the command line
     */
    public static void main(String[] args) {
        int code = ExitCode.SOFTWARE;
        try {
            code = commandLine().execute(args);
        } catch (Error e) {
            System.err.println(Throwables.getStackTraceAsString(e));
        }
        System.exit(code); // RMI's threads, which serve calls of other processes, would keep this JVM alive
    }

    static CommandLine commandLine() {
        return new CommandLine(new Compare())
                .addSubcommand(new Scale())
                .addSubcommand(new Faults())
                .setCaseInsensitiveEnumValuesAllowed(true);
    }
}
