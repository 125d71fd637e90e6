// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.Mistake;
import dev.zkrecipes.cli.connect.Seconds;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What {@code run}, {@code lead} and {@code hold} are told alike: a mixin for picocli. */
final class LockingOptions {
    private static final int GREATEST_CODE = 255;
    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(10);

    /** Null if the command line was read without picocli. */
    @Spec(Spec.Target.MIXEE)
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
            description = "The exit code if the lock was not acquired in time; 0 also does not say so. Default: 1.")
    private @Nullable Integer conflictCode;

    @Option(
            names = "--on-lost",
            paramLabel = "term|ignore",
            description = "When the lock is lost: end what runs under it (TERM, grace, KILL), or let it continue."
                    + " Default: term.")
    private @Nullable Reaction onLost;

    @Option(
            names = "--on-revoke",
            paramLabel = "term|ignore",
            description =
                    "When somebody asks for the lock: end what runs under it, or let it continue. Default: ignore.")
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
    private ConnectOptions connection;

    LockingOptions() {
        this(new ConnectOptions());
    }

    LockingOptions(ConnectOptions connection) {
        this.connection = connection;
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

    /**
     * Checks the options. Sends nothing.
     *
     * @param words what follows the options; the path is removed from it
     */
    Settings settings(List<String> words) {
        LockChoice choice = lock.choice(words);
        if (nonblock && wait != null) {
            throw wrong("-n does not wait and -w does: give one of them");
        }
        Reaction lost = onLost == null ? Reaction.TERM : onLost;
        Reaction revoke = onRevoke == null ? Reaction.IGNORE : onRevoke;
        if (grace != null && lost == Reaction.IGNORE && revoke == Reaction.IGNORE) {
            throw wrong(
                    "--grace is only for a command that may be ended: leave it out, or give --on-lost=term or --on-revoke=term");
        }
        return new Settings(
                choice,
                nonblock ? Optional.of(Duration.ZERO) : Optional.ofNullable(wait),
                conflictCode(),
                lost,
                revoke,
                grace == null ? DEFAULT_GRACE : grace,
                Optional.empty(),
                verbose);
    }

    /** Leaves the command in what follows the options and the path. */
    void requireCommand(List<String> rest, String before) {
        if (!rest.isEmpty() && rest.get(0).equals("--")) {
            rest.remove(0);
        }
        if (rest.isEmpty() || rest.get(0).isEmpty()) {
            throw wrong("the command is missing: add what to run after " + before);
        }
    }

    ConnectOptions connection() {
        return connection;
    }

    ZooKeeperClientBuilder builder() {
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

    ParameterException wrong(String message) {
        return Mistake.of(spec, message, null);
    }
}
