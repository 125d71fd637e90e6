// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench;

import dev.zkrecipes.bench.cases.BenchCase;
import dev.zkrecipes.bench.cases.Cases;
import dev.zkrecipes.bench.cases.WaysToWait;
import dev.zkrecipes.bench.cases.WaysToWait.Way;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.measure.Effort;
import dev.zkrecipes.bench.measure.Metric;
import dev.zkrecipes.bench.measure.Setting;
import dev.zkrecipes.bench.report.Charts;
import dev.zkrecipes.bench.report.Console;
import dev.zkrecipes.bench.report.Machine;
import dev.zkrecipes.bench.report.Result;
import dev.zkrecipes.bench.report.ResultFiles;
import dev.zkrecipes.bench.server.Store;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code bin/bench} command. */
@Command(
        name = "bench",
        description = "Measures this library, Apache Curator and ZooKeeper's own client in turn on one server.",
        mixinStandardHelpOptions = true)
public final class Bench implements Callable<Integer> {
    /** Counts, does not time, and has contenders of its own. */
    private static final String WAYS_TO_WAIT = "ways-to-wait";

    /** Unless the command says otherwise. */
    private static final Set<Setting> QUICK_SETTINGS = Set.of(Setting.memory(0), Setting.memory(2));

    @Spec
    private CommandSpec spec;

    @Option(names = "--case", paramLabel = "NAME", description = "only this case; may be repeated (default: all)")
    private List<String> names = List.of();

    @Option(names = "--list", description = "list the cases and end")
    private boolean list;

    @Option(
            names = "--quick",
            description = "short turns, few rounds, no disk and no 10 ms: for large differences only")
    private boolean quick;

    @Option(names = "--rounds", paramLabel = "N", description = "how many rounds (default: 5, with --quick 3)")
    private @Nullable Integer rounds;

    @Option(
            names = "--contender",
            paramLabel = "WHO",
            description = "only this one of ${COMPLETION-CANDIDATES}; may be repeated (default: all)")
    private List<Contender> contenders = List.of(Contender.values());

    @Option(
            names = "--round-trip",
            paramLabel = "MS",
            description = "only where the way to the server is made so much longer; may be repeated (default: all)")
    private List<Integer> roundTrips = List.of();

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description =
                    "where the files go (default: a whole run in earnest writes docs/dev/bench, another one nowhere)")
    private @Nullable Path out;

    private Bench() {}

    /**
     * Runs the command and ends the JVM with its exit code.
     *
     * @param args the command line
     */
    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        return new CommandLine(new Bench()).setCaseInsensitiveEnumValuesAllowed(true);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        PrintWriter text = spec.commandLine().getOut();
        List<BenchCase> cases = cases();
        if (list) {
            cases.forEach(each -> text.printf("%-24s %s; %s%n", each.name(), each.description(), each.settings()));
            text.printf(
                    "%-24s %s%n",
                    WAYS_TO_WAIT, "requests and events of a hand-over, by polling and two kinds of watch");
            return ExitCode.OK;
        }
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        Effort effort = effort();
        Set<Contender> invited = EnumSet.copyOf(contenders);
        check(cases);
        int turns =
                cases.stream().mapToInt(each -> turns(each, effort, invited)).sum();
        Progress progress = new Progress(spec.commandLine().getErr(), Boolean.getBoolean("bench.terminal"), turns);
        List<Result> results;
        List<WaysToWait.Cost> costs = List.of();
        try (Servers servers = new Servers()) {
            results = play(cases, new BenchRun(servers, effort, invited, progress), text, progress);
            if (isWaysToWaitWanted()) {
                costs = new WaysToWait(servers.of(Store.MEMORY), effort.mostWaiters(), progress::note)
                        .compare(List.of(Way.values()));
                progress.clear();
                text.println(ResultFiles.waysToWait(costs));
            }
        }
        Path folder = out == null && isWholeRun()
                ? Path.of(System.getProperty("bench.home", "."), "docs", "dev", "bench")
                : out;
        if (folder != null) {
            write(folder, results, costs, load);
        }
        return ExitCode.OK;
    }

    private List<Result> play(List<BenchCase> cases, BenchRun run, PrintWriter text, Progress progress)
            throws InterruptedException {
        List<Result> results = new ArrayList<>();
        if (!cases.isEmpty()) {
            run.start(Cases.all().get(0), Setting.memory(0));
        }
        for (BenchCase each : cases) {
            for (Setting setting : settings(each)) {
                Result result = run.play(each, setting);
                results.add(result);
                progress.clear();
                text.println(Console.describe(result));
                text.flush();
            }
        }
        return results;
    }

    private void write(Path folder, List<Result> results, List<WaysToWait.Cost> costs, double load) throws IOException {
        Files.createDirectories(folder);
        String command = "bin/bench "
                + String.join(" ", spec.commandLine().getParseResult().originalArgs());
        Files.writeString(folder.resolve("machine.txt"), Machine.describe(command, load));
        if (!results.isEmpty()) {
            Files.writeString(folder.resolve("results.csv"), ResultFiles.results(results));
            Files.writeString(folder.resolve("rounds.csv"), ResultFiles.rounds(results));
            Files.writeString(folder.resolve("targets.csv"), ResultFiles.targets(results));
            for (Metric metric : List.of(Metric.RATE, Metric.ACQUIRE, Metric.CPU, Metric.ALLOCATED)) {
                Charts.ratios(results, metric, folder);
            }
        }
        if (!costs.isEmpty()) {
            Files.writeString(folder.resolve("ways-to-wait.csv"), ResultFiles.waysToWait(costs));
            Charts.waysToWait(costs, folder);
        }
    }

    private void check(List<BenchCase> cases) {
        if (rounds != null && rounds < 1) {
            throw new ParameterException(spec.commandLine(), "--rounds must be 1 or more, not " + rounds);
        }
        if (!isWaysToWaitWanted()
                && cases.stream().allMatch(each -> settings(each).isEmpty())) {
            throw new ParameterException(
                    spec.commandLine(), "nothing to measure: no case that was chosen has these round trips");
        }
    }

    private boolean isWholeRun() {
        return !quick
                && names.isEmpty()
                && roundTrips.isEmpty()
                && EnumSet.copyOf(contenders).size() == Contender.values().length;
    }

    private boolean isWaysToWaitWanted() {
        return names.isEmpty() || names.contains(WAYS_TO_WAIT);
    }

    private Effort effort() {
        Effort effort = quick ? Effort.QUICK : Effort.FULL;
        return rounds == null ? effort : effort.withRounds(rounds);
    }

    private int turns(BenchCase benchCase, Effort effort, Set<Contender> invited) {
        return settings(benchCase).size() * BenchRun.turns(benchCase, effort, invited);
    }

    private List<BenchCase> cases() {
        if (names.isEmpty()) {
            return Cases.all();
        }
        List<BenchCase> chosen = new ArrayList<>();
        for (String name : names) {
            if (name.equals(WAYS_TO_WAIT)) {
                continue;
            }
            Optional<BenchCase> found = Cases.find(name);
            chosen.add(found.orElseThrow(
                    () -> new ParameterException(spec.commandLine(), "no such case: " + name + "; --list names them")));
        }
        return chosen;
    }

    private List<Setting> settings(BenchCase benchCase) {
        return benchCase.settings().stream()
                .filter(setting -> roundTrips.isEmpty()
                        ? !quick || QUICK_SETTINGS.contains(setting)
                        : roundTrips.contains(setting.roundTripMillis()))
                .toList();
    }
}
