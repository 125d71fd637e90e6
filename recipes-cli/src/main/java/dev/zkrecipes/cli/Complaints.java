// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import dev.zkrecipes.cli.connect.ExitCodes;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Reports errors in one line, with their exit codes. A class and not two lambdas, which no archive of classes can hold.
 */
final class Complaints implements IParameterExceptionHandler, IExecutionExceptionHandler {
    @Override
    public int handleParseException(ParameterException error, String[] args) {
        CommandLine command = error.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("zklock: " + OptionNames.usual(ExitCodes.message(error), command.getCommandSpec()));
        UnmatchedArgumentException.printSuggestions(error, err);
        err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
        return ExitCodes.USAGE;
    }

    @Override
    public int handleExecutionException(Exception error, CommandLine command, ParseResult parsed) {
        command.getErr().println("zklock: " + ExitCodes.message(error));
        return ExitCodes.of(error);
    }
}
