// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import kotlin.Unit;
import org.jspecify.annotations.Nullable;
import org.pastalab.fray.core.TestRunner;
import org.pastalab.fray.core.command.Configuration;
import org.pastalab.fray.core.command.ExecutionInfo;
import org.pastalab.fray.core.command.LambdaExecutor;
import org.pastalab.fray.core.command.NetworkDelegateType;
import org.pastalab.fray.core.command.SystemTimeDelegateType;
import org.pastalab.fray.core.observers.TimelineCoverageType;
import org.pastalab.fray.core.randomness.ControlledRandom;
import org.pastalab.fray.core.randomness.ControlledRandomProvider;
import org.pastalab.fray.core.randomness.Randomness;
import org.pastalab.fray.core.randomness.RecordedRandomProvider;
import org.pastalab.fray.core.scheduler.PCTScheduler;
import org.pastalab.fray.core.scheduler.POSScheduler;
import org.pastalab.fray.core.scheduler.RandomScheduler;
import org.pastalab.fray.core.scheduler.Scheduler;

/** The program of bin/schedules. It runs on Fray's run-time image. */
public final class Schedules {
    /**
     * Ten times the steps of the longest play. A schedule with more steps has a thread that spins or waits repeatedly.
     */
    private static final int MOST_STEPS = 50_000;

    private static final int NANOS_PER_STEP = 1_000;

    private static final int CHANGES_OF_PRIORITY = 3; // Fray's default

    private static final int SCHEDULES_BEFORE_REPLAY = 20;

    private final int schedules;
    private final int seconds;
    private final Optional<Path> recording;
    private final Path work = Path.of(System.getProperty("fray.workDir"));
    private final PrintStream out = System.out;
    private int played; // schedules begun in the latest run()
    private int ended; // those of them that have ended

    private Schedules(int schedules, int seconds, Optional<Path> recording) {
        this.schedules = schedules;
        this.seconds = seconds;
        this.recording = recording;
    }

    /**
     * Plays scenarios, and exits with 1 if one of them fails or does not exist. If all are played, first checks that
     * each scheduler finds a failure and replays it.
     *
     * @param args how many schedules of each scenario to play, or 0 to only print the names of the scenarios; how many
     *     seconds at most for each; the schedulers, separated by commas; the recording of a schedule to replay, or "-";
     *     the names of the scenarios, none for all
     */
    public static void main(String... args) {
        Optional<Path> recording = args[3].equals("-") ? Optional.empty() : Optional.of(Path.of(args[3]));
        Schedules run = new Schedules(Integer.parseInt(args[0]), Integer.parseInt(args[1]), recording);
        List<String> names = List.of(args).subList(4, args.length);
        boolean good = names.stream().allMatch(Schedules::isKnown);
        if (names.isEmpty() && recording.isEmpty() && run.schedules > 0) {
            for (String scheduler : List.of(args[2].split(","))) {
                good &= replays(scheduler);
            }
        }
        for (Play scenario : Play.all()) {
            if (names.isEmpty() || names.contains(scenario.name())) {
                good &= run.play(scenario, args[2].split(","));
            }
        }
        run.out.flush();
        Runtime.getRuntime().halt(good ? 0 : 1); // in Fray's image, exit() always ends with 0
    }

    private static boolean isKnown(String name) {
        boolean known = Play.all().stream().anyMatch(scenario -> scenario.name().equals(name));
        if (!known) {
            System.err.println("there is no test " + name + ": see --list");
        }
        return known;
    }

    private boolean play(Play scenario, String... schedulers) {
        if (schedules == 0) {
            out.println(scenario.name());
            return true;
        }
        scenario.warmUp();
        boolean good = true;
        for (String scheduler : schedulers) {
            good &= play(scenario, scheduler);
        }
        return good;
    }

    private boolean play(Play scenario, String scheduler) {
        if (recording.isPresent()) {
            // The first schedules of a JVM take some steps only once. The recorded schedule came after such schedules,
            // so the replay has to as well.
            var unused = new Schedules(SCHEDULES_BEFORE_REPLAY, seconds, Optional.empty())
                    .run(new Play("before-replay", scenario.plot()), scheduler);
        }
        long begun = System.nanoTime();
        Path report = report(scenario, scheduler);
        Throwable failure = run(scenario, scheduler);
        double took = (System.nanoTime() - begun) / 1e9;
        // Fray abandons a schedule after MOST_STEPS, and goes on. A few abandoned schedules are no failure: Fray is not
        // fair, and may let a thread that yields to another one run for ever. A lost wake-up would show in more of
        // them.
        int endless = failure == null ? played - ended : 0;
        boolean good = failure == null && endless * 100 <= played + 100 && played > 0;
        out.printf(
                Locale.ROOT,
                "%-40s %-6s %7d schedules %7.1f s%s%s%n",
                scenario.name(),
                scheduler,
                played,
                took,
                endless > 0 ? "  " + (good ? "" : "FAILED: ") + endless + " of them did not end" : "",
                failure == null ? "" : "  FAILED: " + reason(failure) + "; see " + report);
        return good;
    }

    /**
     * Returns whether a failure that occurs in a few of a hundred schedules is found, and found again in the replay of
     * its recording. Prints a line if not.
     */
    private static boolean replays(String scheduler) {
        Schedules search = new Schedules(10_000, 60, Optional.empty());
        Play.LOSES_UPDATES.warmUp();
        search.out.println("updates that are lost on purpose under " + scheduler + ", and their replay");
        Throwable found = search.run(Play.LOSES_UPDATES, scheduler);
        Schedules replay = new Schedules(1, 60, Optional.of(search.report(Play.LOSES_UPDATES, scheduler)));
        Throwable again = found == null ? null : replay.run(Play.LOSES_UPDATES, scheduler);
        boolean good = replay.played == 1 && again != null;
        if (!good) {
            search.out.println(scheduler + "  FAILED: of what it finds nothing is played again: " + found);
        }
        return good;
    }

    private Path report(Play scenario, String scheduler) {
        return work.resolve(scenario.name() + "." + scheduler);
    }

    private static String reason(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.toString();
    }

    private @Nullable Throwable run(Play scenario, String scheduler) {
        played = 0;
        ended = 0;
        Path report = report(scenario, scheduler);
        Configuration configuration = configuration(scenario, scheduler(scheduler), report);
        Throwable failure = quietly(configuration);
        if (failure != null && recording.isEmpty() && configuration.getScheduler() instanceof PCTScheduler pct) {
            try {
                Files.writeString(steps(report), Integer.toString(pct.getMaxStep()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return failure;
    }

    /** Runs Fray without its progress reports on standard output. */
    private @Nullable Throwable quietly(Configuration configuration) {
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        try {
            return new TestRunner(configuration).run();
        } finally {
            System.setOut(out);
        }
    }

    /**
     * Creates the scheduler of the first schedule. Fray itself provides those of later schedules, but does not read a
     * recording for the first one.
     */
    private Scheduler scheduler(String name) {
        Randomness random = recording
                .map(path -> new RecordedRandomProvider(within(path, "random.json")).getRandomness())
                .orElseGet(ControlledRandom::new);
        return switch (name) {
            case "pos" -> new POSScheduler(random);
            case "pct" ->
                new PCTScheduler(
                        random,
                        CHANGES_OF_PRIORITY,
                        recording.map(Schedules::readSteps).orElse(0));
            case "random" -> new RandomScheduler(random);
            default -> throw new IllegalArgumentException("no scheduler " + name);
        };
    }

    /**
     * Returns the path of a file beside a recording, for the greatest number of steps in the schedules before the
     * recorded one. PCT draws from this range, and Fray does not record it.
     */
    private static Path steps(Path report) {
        return Path.of(within(report, "steps"));
    }

    private static int readSteps(Path report) {
        try {
            return Integer.parseInt(Files.readString(steps(report)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sets every option, because Fray has no defaults for callers in Java. */
    private Configuration configuration(Play scenario, Scheduler scheduler, Path report) {
        boolean ignoreUnhandledExceptions = false;
        boolean interleaveMemoryOps = false;
        boolean fullSchedule = false;
        boolean exploreMode = false;
        boolean noExitWhenBugFound = true;
        boolean noFray = false;
        boolean dummyRun = false;
        boolean ignoreTimedBlock = false;
        boolean sleepAsYield = false;
        boolean resetClassLoader = false;
        boolean redirectStdout = false;
        boolean abortThreadExecutionAfterMainExit = true;
        boolean resolveRacingOperationStackTraceHash = false;
        LambdaExecutor executor = new LambdaExecutor(() -> {
            played++;
            scenario.play();
            ended++;
            return Unit.INSTANCE;
        });
        return new Configuration(
                new ExecutionInfo(executor, ignoreUnhandledExceptions, interleaveMemoryOps, MOST_STEPS),
                recording.isPresent() ? report.resolveSibling("replay") : report,
                recording.isPresent() ? 1 : schedules,
                recording.isPresent() ? seconds : seconds - 1, // Fray goes on until the end of the given second
                scheduler,
                new ControlledRandomProvider(),
                fullSchedule,
                exploreMode,
                noExitWhenBugFound,
                recording.isPresent(),
                noFray,
                dummyRun,
                NetworkDelegateType.NONE,
                SystemTimeDelegateType.MOCK,
                NANOS_PER_STEP,
                ignoreTimedBlock,
                sleepAsYield,
                resetClassLoader,
                redirectStdout,
                abortThreadExecutionAfterMainExit,
                resolveRacingOperationStackTraceHash,
                TimelineCoverageType.NONE);
    }

    private static String within(Path report, String file) {
        Path within = report.resolve("recording");
        return (Files.isDirectory(within) ? within : report).resolve(file).toString();
    }
}
