// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import java.io.OutputStream;
import java.io.PrintStream;
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
import org.pastalab.fray.core.randomness.ControlledRandomProvider;
import org.pastalab.fray.core.randomness.RecordedRandomProvider;
import org.pastalab.fray.core.scheduler.PCTScheduler;
import org.pastalab.fray.core.scheduler.POSScheduler;
import org.pastalab.fray.core.scheduler.RandomScheduler;
import org.pastalab.fray.core.scheduler.Scheduler;

/** What bin/schedules runs on Fray's image. */
public final class Schedules {
    /** Ten times what the longest plot takes: a thread spins, or waits again and again. */
    private static final int MOST_STEPS = 50_000;

    private static final int NANOS_PER_STEP = 1_000;

    private final int schedules;
    private final int seconds;
    private final Optional<Path> recording;
    private final Path work = Path.of(System.getProperty("fray.workDir"));
    private final PrintStream out = System.out;
    private int ended; // of those of one test

    private Schedules(int schedules, int seconds, Optional<Path> recording) {
        this.schedules = schedules;
        this.seconds = seconds;
        this.recording = recording;
    }

    /**
     * Plays scenarios, and exits with 1 if one of them fails.
     *
     * @param args how many schedules of each; how many seconds at most for each; the schedulers; the recording of a
     *     schedule, or "-"; the names of scenarios, none for all
     */
    public static void main(String... args) {
        Optional<Path> recording = args[3].equals("-") ? Optional.empty() : Optional.of(Path.of(args[3]));
        Schedules run = new Schedules(Integer.parseInt(args[0]), Integer.parseInt(args[1]), recording);
        List<String> names = List.of(args).subList(4, args.length);
        boolean good = names.stream().allMatch(Schedules::isKnown);
        for (Play scenario : Play.all()) {
            if (names.isEmpty() || names.contains(scenario.name())) {
                good &= run.play(scenario, args[2].split(","));
            }
        }
        run.out.flush();
        Runtime.getRuntime().halt(good ? 0 : 1); // Fray's image makes a 0 of what exit() is given
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
        long begun = System.nanoTime();
        Path report = work.resolve(scenario.name() + "." + scheduler);
        Configuration configuration = configuration(scenario, scheduler(scheduler), report);
        ended = 0;
        Throwable failure = run(configuration);
        double took = (System.nanoTime() - begun) / 1e9;
        int played = configuration.getCurrentIteration();
        // Fray gives them up after so many steps, and goes on. A few do not count: it is not fair, and may let a thread
        // that
        // yields to another one run for ever. A wake-up that was lost for good shows in more of them.
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

    private static String reason(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.toString();
    }

    /** What Fray says of its progress is nobody's. */
    private @Nullable Throwable run(Configuration configuration) {
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        try {
            return new TestRunner(configuration).run();
        } finally {
            System.setOut(out);
        }
    }

    private static Scheduler scheduler(String name) {
        return switch (name) {
            case "pos" -> new POSScheduler();
            case "pct" -> new PCTScheduler();
            case "random" -> new RandomScheduler();
            default -> throw new IllegalArgumentException("no scheduler " + name);
        };
    }

    /** Fray has no defaults for Java. */
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
            scenario.play();
            ended++;
            return Unit.INSTANCE;
        });
        return new Configuration(
                new ExecutionInfo(executor, ignoreUnhandledExceptions, interleaveMemoryOps, MOST_STEPS),
                recording.isPresent() ? report.resolveSibling("replay") : report,
                recording.isPresent() ? 1 : schedules,
                recording.isPresent() ? seconds : seconds - 1, // it ends after the second that is named
                scheduler,
                recording.isPresent()
                        ? new RecordedRandomProvider(random(recording.get()))
                        : new ControlledRandomProvider(),
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

    private static String random(Path recording) {
        Path within = recording.resolve("recording");
        return (Files.isDirectory(within) ? within : recording)
                .resolve("random.json")
                .toString();
    }
}
