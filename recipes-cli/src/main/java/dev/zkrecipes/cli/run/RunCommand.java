// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.Mistake;
import dev.zkrecipes.cli.connect.Seconds;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code zklock run}: reads and checks the command line, and runs the command under the lock. */
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
    private static final int GREATEST_CODE = 255;
    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(10);
    private static final String VERBOSE_LOG = "org.slf4j.simpleLogger.log.dev.zkrecipes.core";

    /** Null if the command line was read without picocli. */
    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private LockChoiceOptions lock = new LockChoiceOptions();

    @Option(
            names = {"-n", "--nonblock"},
            description = "Do not wait for the lock.")
    private boolean nonblock;

    @Option(
            names = {"-w", "--wait", "--timeout"},
            paramLabel = "SECONDS",
            converter = Seconds.class,
            description =
                    "Wait no longer than this, also for a server; fractions are allowed. Default: wait for the lock as long "
                            + "as it takes, for a server 15 seconds.")
    private @Nullable Duration wait;

    @Option(
            names = {"-E", "--conflict-exit-code"},
            paramLabel = "N",
            description = "The exit code if the lock was not acquired in time. Default: 1.")
    private @Nullable Integer conflictCode;

    @Option(
            names = "--on-lost",
            paramLabel = "term|ignore",
            description =
                    "When the lock is lost: end the command (TERM, grace, KILL), or let it continue. Default: term.")
    private @Nullable Reaction onLost;

    @Option(
            names = "--on-revoke",
            paramLabel = "term|ignore",
            description = "When somebody asks for the lock: end the command, or let it continue. Default: ignore.")
    private @Nullable Reaction onRevoke;

    @Option(
            names = "--grace",
            paramLabel = "SECONDS",
            converter = Seconds.class,
            description = "The time between TERM and KILL. Default: 10.")
    private @Nullable Duration grace;

    @Option(
            names = "--label",
            paramLabel = "TEXT",
            description = "The owner that others see. Default: process id and host.")
    private @Nullable String label;

    @Option(
            names = {"-v", "--verbose"},
            description = "Report on standard error how long zklock waited for and held the lock.")
    private boolean verbose;

    @Mixin
    private ConnectOptions connection = new ConnectOptions();

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
        this.connection = connection;
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
        try {
            return OptionalInt.of(command.run(command.settings(), command.builder(), err));
        } catch (Mistake.UnreportedException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            err.println("zklock: " + ExitCodes.message(e));
            return OptionalInt.of(ExitCodes.of(e));
        }
    }

    /**
     * Runs the command under the lock.
     *
     * @return the exit code
     * @throws IOException if the command cannot be started
     */
    @Override
    public Integer call() throws IOException {
        return run(
                settings(),
                builder(),
                Objects.requireNonNull(spec).commandLine().getErr());
    }

    private int run(RunSettings settings, ZooKeeperClientBuilder builder, PrintWriter err) throws IOException {
        Notes notes = new Notes(err, verbose);
        if (!verbose) {
            // zklock reports errors itself, in one line.
            System.setProperty(VERBOSE_LOG, "off");
        }
        String command = settings.command().get(0);
        return switch (Executable.look(command, Optional.ofNullable(System.getenv("PATH")))) {
            case NOT_FOUND -> {
                notes.warn(command + ": command not found");
                yield ExitCodes.NOT_FOUND;
            }
            case NOT_EXECUTABLE -> {
                notes.warn(command + ": cannot be executed: no permission, or not a file");
                yield ExitCodes.NOT_EXECUTABLE;
            }
            case RUNNABLE -> new LockedRun(settings, connection, notes).run(builder);
        };
    }

    /** Takes an option without a value from {@link UsualLine}. Returns whether there is one of that name. */
    boolean take(String option) {
        switch (option) {
            case "-n" -> nonblock = true;
            case "-v" -> verbose = true;
            default -> {
                return lock.take(option);
            }
        }
        return true;
    }

    /** Takes an option with a value. */
    boolean take(String option, String value) {
        switch (option) {
            case "-w" -> wait = new Seconds().convert(value);
            case "-E" -> conflictCode = Integer.valueOf(value);
            case "--grace" -> grace = new Seconds().convert(value);
            case "--label" -> label = value;
            default -> {
                return lock.take(option, value) || connection.take(option, value);
            }
        }
        return true;
    }

    /** Takes what follows the options. */
    void takeWords(List<String> rest) {
        words = rest;
    }

    /** Checks the command line. Sends nothing. */
    RunSettings settings() {
        List<String> rest = new ArrayList<>(words);
        LockChoice choice = lock.choice(rest);
        if (!rest.isEmpty() && rest.get(0).equals("--")) {
            rest.remove(0);
        }
        if (rest.isEmpty() || rest.get(0).isEmpty()) {
            throw wrong("the command is missing: add what to run after "
                    + (choice.paths().size() == 1 ? "PATH" : "--all"));
        }
        if (nonblock && wait != null) {
            throw wrong("-n does not wait and -w does: give one of them");
        }
        int code = conflictCode();
        Reaction lost = onLost == null ? Reaction.TERM : onLost;
        Reaction revoke = onRevoke == null ? Reaction.IGNORE : onRevoke;
        if (grace != null && lost == Reaction.IGNORE && revoke == Reaction.IGNORE) {
            throw wrong(
                    "--grace is only for a command that may be ended: leave it out, or give --on-lost=term or --on-revoke=term");
        }
        return new RunSettings(
                choice,
                rest,
                nonblock ? Optional.of(Duration.ZERO) : Optional.ofNullable(wait),
                code,
                lost,
                revoke,
                grace == null ? DEFAULT_GRACE : grace);
    }

    private ZooKeeperClientBuilder builder() {
        ZooKeeperClientBuilder builder = connection.client();
        String owner = label;
        if (owner != null) {
            try {
                builder.ownerLabel(owner);
            } catch (IllegalArgumentException e) {
                throw Mistake.of(spec, "--label: " + e.getMessage(), e);
            }
        }
        return builder;
    }

    private int conflictCode() {
        Integer code = conflictCode;
        if (code == null) {
            return ExitCodes.CONFLICT;
        }
        if (code < 0 || code > GREATEST_CODE) {
            throw wrong("-E is " + code + ", must be 0 to " + GREATEST_CODE);
        }
        if (!nonblock && wait == null) {
            throw wrong("-E needs a limit on the wait: add -n or -w");
        }
        return code;
    }

    private ParameterException wrong(String message) {
        return Mistake.of(spec, message, null);
    }
}
