// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import com.google.common.base.Splitter;
import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.LockPathConverter;
import dev.zkrecipes.cli.connect.Mistake;
import dev.zkrecipes.cli.connect.Seconds;
import dev.zkrecipes.cli.run.LockChoice.Mode;
import dev.zkrecipes.cli.run.Settings.Reaction;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * The options that {@code run}, {@code lead} and {@code hold} have in common: a mixin for picocli. {@link UsualLine}
 * sets them without picocli. Everything is checked here before anything is sent.
 */
final class LockingOptions {
    private static final int GREATEST_CODE = 255;
    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(10);

    /** Null if the command line was read without picocli. */
    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec spec;

    @Option(
            names = {"-x", "--exclusive"},
            description = "The exclusive side of a read-write lock. Without -x, -s and --limit the lock is a mutex.")
    private boolean exclusive;

    @Option(
            names = {"-s", "--shared"},
            description = "The shared side: others may hold the lock with -s meanwhile.")
    private boolean shared;

    @Option(
            names = "--limit",
            paramLabel = "M",
            description = "A semaphore with M permits. All users of the path must give the same M.")
    private @Nullable Integer limit;

    @Option(
            names = "--permits",
            paramLabel = "N",
            description = "How many permits of the semaphore to take. Default: 1.")
    private @Nullable Integer permits;

    @Option(
            names = "--all",
            paramLabel = "PATH,PATH...",
            description = "Several locks, all or nothing, instead of PATH. May be repeated.")
    private List<String> all = new ArrayList<>();

    @Option(
            names = {"-n", "--nonblock"},
            description = "Do not wait for the lock.")
    private boolean nonblock;

    @Option(
            names = {"-w", "--wait"},
            paramLabel = "SECONDS",
            converter = Seconds.class,
            description =
                    "Wait no longer than this, also for a server; fractions are allowed. --timeout is another name of this "
                            + "option, as in flock(1). Default: wait for the lock as long as it takes, for a server 15 "
                            + "seconds.")
    private @Nullable Duration wait;

    /**
     * Another name of {@code --wait}, as in {@code flock}. It is an option of its own so that errors name the option
     * that the user gave: picocli names an option by its longest name. It is hidden because the help of
     * {@code --wait} mentions it.
     */
    @Option(names = "--timeout", hidden = true, paramLabel = "SECONDS", converter = Seconds.class)
    private @Nullable Duration timeout;

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
    private Reaction onLost = Reaction.TERM;

    @Option(
            names = "--on-revoke",
            paramLabel = "term|ignore",
            description =
                    "When somebody asks for the lock: end what runs under it, or let it continue. Default: ignore.")
    private Reaction onRevoke = Reaction.IGNORE;

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

    private final Launcher launcher;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli prints the help by itself
    private boolean help;

    @Parameters(arity = "0..*", paramLabel = "PATH COMMAND", hidden = true)
    private List<String> words = new ArrayList<>();

    LockingOptions() {
        this(new ConnectOptions(), Launcher.ofThisJvm());
    }

    LockingOptions(ConnectOptions connection, Launcher launcher) {
        this.connection = connection;
        this.launcher = launcher;
    }

    /** Sets an option without a value, for {@link UsualLine}. Returns whether there is such an option. */
    boolean take(String option) {
        switch (option) {
            case "-x" -> exclusive = true;
            case "-s" -> shared = true;
            case "-n" -> nonblock = true;
            case "-v" -> verbose = true;
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Sets an option with a value, for {@link UsualLine}. Returns whether there is such an option. */
    boolean take(String option, String value) {
        switch (option) {
            case "--limit" -> limit = Integer.valueOf(value);
            case "--permits" -> permits = Integer.valueOf(value);
            case "-w" -> wait = new Seconds().convert(value);
            case "-E" -> conflictCode = Integer.valueOf(value);
            case "--grace" -> grace = new Seconds().convert(value);
            case "--label" -> label = value;
            default -> {
                return connection.take(option, value);
            }
        }
        return true;
    }

    /** Sets the words after the options, for {@link UsualLine}. */
    void takeWords(List<String> rest) {
        words = rest;
    }

    /** Returns the words after the options, in a list that the caller may change. */
    List<String> words() {
        return new ArrayList<>(words);
    }

    /** Returns the kind of lock that the options select. */
    Mode mode() {
        Integer most = limit;
        if (exclusive && shared) {
            throw wrong("-x is exclusive and -s is shared: give one of them");
        }
        if (most == null) {
            if (permits != null) {
                throw wrong("--permits is for a semaphore: add --limit, the number of all permits");
            }
            return shared ? Mode.SHARED : exclusive ? Mode.EXCLUSIVE : Mode.MUTEX;
        }
        if (exclusive || shared) {
            throw wrong("--limit makes a semaphore, which is neither exclusive nor shared: leave "
                    + (exclusive ? "-x" : "-s") + " out");
        }
        if (most < 1) {
            throw wrong("--limit is " + most + ", must be 1 or more");
        }
        if (permits != null && (permits < 1 || permits > most)) {
            throw wrong("--permits is " + permits + ", must be 1 to " + most + ", the --limit");
        }
        return Mode.SEMAPHORE;
    }

    /**
     * Checks the options. Sends nothing.
     *
     * @param mode the kind of lock
     * @param rest the words after the options; the path is removed from this list
     * @param pause the least time between two starts of the command; empty if it is started once
     */
    Settings settings(Mode mode, List<String> rest, Optional<Duration> pause) {
        List<String> paths = all.isEmpty() ? List.of(path(rest)) : allPaths();
        if (wait != null && timeout != null) {
            throw wrong("--timeout is another name of -w: give one of them");
        }
        Duration most = wait == null ? timeout : wait;
        if (nonblock && most != null) {
            throw wrong("-n does not wait and -w does: give one of them");
        }
        if (grace != null && onLost == Reaction.IGNORE && onRevoke == Reaction.IGNORE) {
            throw wrong(
                    "--grace is only for a command that may be ended: leave it out, or give --on-lost=term or --on-revoke=term");
        }
        return new Settings(
                new LockChoice(mode, paths, permits == null ? 1 : permits, limit == null ? 1 : limit),
                nonblock ? Optional.of(Duration.ZERO) : Optional.ofNullable(most),
                conflictCode(),
                onLost,
                onRevoke,
                grace == null ? DEFAULT_GRACE : grace,
                pause,
                verbose);
    }

    /** Checks that a command follows the path, and leaves only the command in {@code rest}. */
    void requireCommand(List<String> rest) {
        if (!rest.isEmpty() && rest.get(0).equals("--")) {
            rest.remove(0);
        }
        if (!rest.isEmpty() && rest.get(0).equals("-c")) {
            throw wrong("there is no -c COMMAND as in flock: write sh -c 'COMMAND'");
        }
        if (rest.isEmpty() || rest.get(0).isEmpty()) {
            throw wrong("the command is missing: add what to run after " + (all.isEmpty() ? "PATH" : "--all"));
        }
    }

    /** Keeps the lock for the command, which has {@code command} words. Returns the exit code. */
    int keep(Settings settings, int command) {
        return keep(settings, command, 0);
    }

    /**
     * Keeps the lock for a command of {@code command} words, or for a script if that is 0. {@code script} is the
     * process that is ended when the lock is lost; 0 means the processes that read the output. Returns the exit code.
     */
    int keep(Settings settings, int command, int script) {
        CommandSpec parsed = spec;
        PrintWriter err = parsed == null
                ? new PrintWriter(System.err, true, Charset.defaultCharset())
                : parsed.commandLine().getErr();
        return new Keeper(settings, connection, launcher, err).run(builder(), command, script);
    }

    private ZooKeeperClientBuilder builder() {
        ZooKeeperClientBuilder builder = connection.client();
        String owner = label;
        if (owner != null) {
            try {
                builder.ownerLabel(owner);
            } catch (IllegalArgumentException e) {
                throw wrong("--label: " + e.getMessage());
            }
        }
        return builder;
    }

    private int conflictCode() {
        Integer code = conflictCode;
        if (code == null) {
            return ExitCodes.FAILED;
        }
        if (code < 0 || code > GREATEST_CODE) {
            throw wrong("-E is " + code + ", must be 0 to " + GREATEST_CODE);
        }
        if (!nonblock && wait == null && timeout == null) {
            throw wrong("-E needs a limit on the wait: add -n or -w");
        }
        return code;
    }

    private String path(List<String> rest) {
        if (rest.isEmpty()) {
            throw wrong("the path of the lock is missing: give one such as /locks/nightly");
        }
        return checked(rest.remove(0), "");
    }

    /**
     * Splits the lists of {@code --all}. An empty part is refused, because it may be a variable that a script has not
     * set. If it were left out, zklock would take one lock too few.
     */
    private List<String> allPaths() {
        List<String> paths = all.stream()
                .flatMap(each -> Splitter.on(',').splitToStream(each))
                .toList();
        if (paths.contains("")) {
            throw wrong("--all has an empty path: give paths with one comma between them, such as --all /a,/b");
        }
        Set<String> distinct = new HashSet<>();
        for (String path : paths) {
            if (!distinct.add(checked(path, "--all: "))) {
                throw wrong("--all names " + path + " twice: leave one out");
            }
        }
        if (paths.size() == 1) {
            throw wrong("--all takes several paths with commas between them; for one lock give PATH without --all");
        }
        return paths;
    }

    private String checked(String path, String where) {
        try {
            return new LockPathConverter().convert(path);
        } catch (TypeConversionException e) {
            throw wrong(where + e.getMessage());
        }
    }

    ParameterException wrong(String message) {
        return Mistake.of(spec, message);
    }
}
