// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.text.PlainText;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Reports an error on standard error, in one line and sometimes a hint, and returns its exit code.
 *
 * <p>This is a class rather than two lambdas to save time at the start: the JVM links lambdas anew in each run.
 */
final class Complaints implements IParameterExceptionHandler, IExecutionExceptionHandler {
    private static final int LONGEST_QUOTE = 200;

    @Override
    public int handleParseException(ParameterException error, String[] args) {
        CommandLine command = error.getCommandLine();
        PrintWriter err = command.getErr();
        ParameterException told = error instanceof UnmatchedArgumentException
                ? error
                : unknownOption(command).orElse(error);
        err.println("zklock: " + message(told, command));
        if (!UnmatchedArgumentException.printSuggestions(told, err) && isUnknownCommand(told, command)) {
            err.println(
                    "There are " + String.join(", ", command.getSubcommands().keySet()) + ".");
        }
        err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
        return ExitCodes.USAGE;
    }

    /**
     * Finds unknown options among the words that picocli could not match. They are reported in place of picocli's own
     * error, because they are often its cause: picocli takes the value of a mistyped option for another argument.
     */
    private static Optional<ParameterException> unknownOption(CommandLine command) {
        List<String> options = command.getUnmatchedArguments().stream()
                .filter(each -> each.startsWith("-"))
                .toList();
        return options.isEmpty() ? Optional.empty() : Optional.of(new UnmatchedArgumentException(command, options));
    }

    private static String message(ParameterException error, CommandLine command) {
        if (!(error instanceof UnmatchedArgumentException unmatched) || unmatched.isUnknownOption()) {
            boolean isEarly = error instanceof UnmatchedArgumentException && hasCommands(command);
            return ExitCodes.message(error) + (isEarly ? "; options come after the command" : "");
        }
        String first = "'" + PlainText.of(unmatched.getUnmatched().get(0), LONGEST_QUOTE) + "'";
        return isUnknownCommand(error, command) ? "there is no command " + first : first + " is one argument too many";
    }

    /** Whether the error is about a word that stands in place of a sub-command, but names none. */
    private static boolean isUnknownCommand(ParameterException error, CommandLine command) {
        return error instanceof UnmatchedArgumentException unmatched
                && !unmatched.isUnknownOption()
                && hasCommands(command);
    }

    /** Whether it is {@code zklock} itself. */
    private static boolean hasCommands(CommandLine command) {
        return command.getCommandSpec().root().userObject() == command.getCommand()
                && !command.getSubcommands().isEmpty();
    }

    @Override
    public int handleExecutionException(Exception error, CommandLine command, ParseResult parsed) {
        command.getErr().println("zklock: " + ExitCodes.message(error));
        return ExitCodes.of(error);
    }
}
