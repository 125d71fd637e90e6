// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.TypeConversionException;

/**
 * {@code zklock run}: keeps a lock while {@code bin/zklock} runs a command. This class reads the command line, with
 * or without picocli; the {@link Keeper} holds the lock.
 */
@Command(
        name = "run",
        header = "Runs a command under a lock.",
        customSynopsis = {
            "zklock run [-s | -x] [-n | -w SECONDS] [OPTIONS] PATH [--] COMMAND...",
            "       zklock run [OPTIONS] --all PATH,PATH... [--] COMMAND..."
        },
        description = {
            "Runs a command under a lock that all hosts share, as flock(1) does on one host. zklock releases the lock when the "
                    + "command ends. At a terminal, a wait shows who holds it. $ZKLOCK_PATH, $ZKLOCK_FENCE (a number that "
                    + "rises from holder to holder), $ZKLOCK_NODE and $ZKLOCK_SESSION describe the lock to the command.",
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
    @Mixin
    private final LockingOptions options;

    /** Called by picocli. */
    public RunCommand() {
        this(new LockingOptions());
    }

    RunCommand(LockingOptions options) {
        this.options = options;
    }

    /**
     * Runs a usual command line without picocli, which takes long to start.
     *
     * @param line the words after {@code run}
     * @return the exit code; empty if only picocli can read the line, and then nothing was done
     */
    public static OptionalInt runUsual(List<String> line) {
        LockingOptions options = new LockingOptions();
        try {
            if (!UsualLine.read(line, options)) {
                return OptionalInt.empty();
            }
        } catch (TypeConversionException | NumberFormatException e) {
            return OptionalInt.empty(); // picocli reads the line again, and reports the wrong value
        }
        return OptionalInt.of(run(options));
    }

    @Override
    public Integer call() {
        return run(options);
    }

    private static int run(LockingOptions options) {
        List<String> command = options.words();
        Settings settings = settings(options, command);
        return options.keep(settings, command.size());
    }

    /** Checks the command line, and leaves only the command in {@code rest}. Sends nothing. */
    static Settings settings(LockingOptions options, List<String> rest) {
        Settings settings = options.settings(options.mode(), rest, Optional.empty());
        options.requireCommand(rest);
        return settings;
    }
}
