// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import dev.zkrecipes.bench.compare.BenchCase.Setting;
import dev.zkrecipes.bench.runner.Machine;
import dev.zkrecipes.bench.runner.Store;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
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
public final class Compare implements Callable<Integer> {
    /** The settings that {@code --quick} measures if no round trips are given. */
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

    @Override
    public Integer call() throws Exception {
        PrintWriter text = spec.commandLine().getOut();
        List<BenchCase> cases = cases();
        if (list) {
            cases.forEach(each -> text.printf("%-24s %s; %s%n", each.name(), each.description(), each.settings()));
            return ExitCode.OK;
        }
        require(rounds == null || rounds >= 1, "--rounds must be 1 or more, not " + rounds);
        require(
                cases.stream().anyMatch(each -> !settings(each).isEmpty()),
                "nothing to measure: no case that was chosen has these round trips");
        double load = Machine.load();
        PrintWriter err = spec.commandLine().getErr();
        Effort effort = quick ? Effort.QUICK : Effort.FULL;
        effort = rounds == null ? effort : effort.withRounds(rounds);
        List<Result> results = new ArrayList<>();
        try (Comparison comparison = new Comparison(effort, err::println)) {
            comparison.start(Cases.ALL.get(0), Setting.memory(0));
            for (BenchCase each : cases) {
                for (Setting setting : settings(each)) {
                    Result result = comparison.play(each, setting);
                    results.add(result);
                    text.println(result.describe());
                    text.flush();
                }
            }
        }
        if (out != null || isWholeRun()) {
            write(out != null ? out : Path.of(System.getProperty("bench.home", "."), "docs/dev/bench"), results, load);
        }
        return ExitCode.OK;
    }

    private void write(Path folder, List<Result> results, double load) throws IOException {
        Files.createDirectories(folder);
        String command = "bin/bench "
                + String.join(" ", spec.commandLine().getParseResult().originalArgs());
        Files.writeString(folder.resolve("machine.txt"), Machine.describe(command, List.of(Store.values()), load));
        Files.writeString(folder.resolve("results.csv"), Result.results(results).csv());
    }

    private boolean isWholeRun() {
        return !quick && rounds == null && names.isEmpty() && roundTrips.isEmpty();
    }

    private List<BenchCase> cases() {
        names.forEach(name -> require(Cases.find(name).isPresent(), "no such case: " + name + "; --list names them"));
        return names.isEmpty()
                ? Cases.ALL
                : names.stream().flatMap(name -> Cases.find(name).stream()).toList();
    }

    private List<Setting> settings(BenchCase benchCase) {
        return benchCase.settings().stream()
                .filter(setting -> roundTrips.isEmpty()
                        ? !quick || QUICK_SETTINGS.contains(setting)
                        : roundTrips.contains(setting.roundTripMillis()))
                .toList();
    }

    private void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }
}
