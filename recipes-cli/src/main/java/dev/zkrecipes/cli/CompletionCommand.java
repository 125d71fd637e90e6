// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import java.io.PrintWriter;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code zklock completion}: prints a script with which a shell completes commands and options. */
@Command(
        name = "completion",
        header = "Prints completion for bash and zsh.",
        description = {"The script lets the shell complete the commands and options of zklock.", ""},
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "64:the command line is wrong"},
        footerHeading = "%nExamples:%n",
        footer = {"  source <(zklock completion)", "  zklock completion > /etc/bash_completion.d/zklock"})
final class CompletionCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        out.print(AutoComplete.bash("zklock", spec.root().commandLine()));
        out.flush();
    }
}
