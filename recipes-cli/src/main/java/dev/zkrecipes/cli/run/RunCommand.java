// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.Mistake;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code zklock run}: reads the command line, and keeps the lock while {@code bin/zklock} runs the command. */
@Command(
        name = "run",
        header = "Runs a command under a lock.",
        customSynopsis = {
            "zklock run [-s | -x] [-n | -w SECONDS] [OPTIONS] PATH [--] COMMAND...",
            "       zklock run [OPTIONS] --all PATH,PATH... [--] COMMAND..."
        },
        description = {
            "Runs a command under a lock that all hosts share, as flock(1) does on one host. zklock releases the lock when the "
                    + "command ends. $ZKLOCK_PATH, $ZKLOCK_FENCE (a number that rises from holder to holder), $ZKLOCK_NODE and "
                    + "$ZKLOCK_SESSION describe the lock to the command.",
            ""
        },
        sortOptions = false,
        footerHeading = "%nExamples:%n",
        footer = {
            "  zklock run -n /locks/nightly nightly.sh     do nothing if it runs elsewhere",
            "  zklock run -w 600 /locks/deploy -- deploy   wait ten minutes at most",
            "  zklock run --limit 3 /locks/import import   three at a time"
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            " :that of the command, or 128+N if signal N ended it",
            "1:not acquired in time; see -E",
            "64:the command line is wrong; nothing was sent",
            "65:the path cannot serve as this lock",
            "69:no server could be reached",
            "70:zklock itself failed",
            "76:the lock was lost while the command ran",
            "77:no rights",
            "126:the command cannot be executed",
            "127:the command was not found"
        })
public final class RunCommand implements Callable<Integer> {
    /** Null if the command line was read without picocli. */
    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private LockingOptions options = new LockingOptions();

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // the command line acts on it by itself
    private boolean help;

    @Parameters(arity = "0..*", paramLabel = "PATH COMMAND", hidden = true)
    private List<String> words = new ArrayList<>();

    /** For picocli. */
    public RunCommand() {}

    RunCommand(ConnectOptions connection) {
        this.options = new LockingOptions(connection);
    }

    /**
     * Runs a usual command line without picocli, which takes long to start.
     *
     * @param line what follows {@code run}
     * @param err for messages
     * @return the exit code; empty, and nothing was done, if picocli is to read the line
     * @throws Mistake.UnreportedException if the line is wrong; nothing was sent
     */
    public static OptionalInt runUsual(List<String> line, PrintWriter err) {
        RunCommand command = new RunCommand();
        try {
            if (!UsualLine.read(line, command)) {
                return OptionalInt.empty();
            }
        } catch (TypeConversionException | NumberFormatException e) {
            return OptionalInt.empty();
        }
        return OptionalInt.of(command.run(err));
    }

    @Override
    public Integer call() {
        return run(Objects.requireNonNull(spec).commandLine().getErr());
    }

    private int run(PrintWriter err) {
        List<String> command = words();
        Settings settings = settings(command);
        return new Keeper(settings, options.connection(), err).run(options.builder(), command.size());
    }

    LockingOptions options() {
        return options;
    }

    /** What follows the options. */
    List<String> words() {
        return new ArrayList<>(words);
    }

    /** Takes what follows the options from {@link UsualLine}. */
    void takeWords(List<String> rest) {
        words = rest;
    }

    /** Checks the command line. Sends nothing. Leaves the command in {@code rest}. */
    Settings settings(List<String> rest) {
        Settings settings = options.settings(rest);
        options.requireCommand(rest, settings.lock().paths().size() == 1 ? "PATH" : "--all");
        return settings;
    }
}
