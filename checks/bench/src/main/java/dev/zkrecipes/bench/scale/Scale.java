// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import com.google.common.collect.Ordering;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Work;
import dev.zkrecipes.bench.runner.Machine;
import dev.zkrecipes.bench.runner.Store;
import dev.zkrecipes.bench.scale.Reading.Series;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.DoubleSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code bin/bench scale} command. */
@Command(
        name = "scale",
        description = {
            "Measures how many locks a second one server and an ensemble of three give to more and more sessions, each"
                    + " with a path of its own, and how long an acquire takes at 50 and 90 %% of that: this library's"
                    + " mutex, Apache Curator's, and a bare create and delete. With logs on disk, also what 100 sessions"
                    + " get if they use each path once.",
            "With the defaults it takes about 25 minutes on two cores, and writes docs/scale.md and docs/dev/bench if"
                    + " all turns succeed. It does not begin if the load of the machine is above 1. Ends with 1 if a"
                    + " turn fails."
        },
        mixinStandardHelpOptions = true)
public final class Scale implements Callable<Integer> {
    private static final Pattern REPORT =
            Pattern.compile("(<!-- Begin of the report[^>]*-->\n).*(<!-- End of the report)", Pattern.DOTALL);

    private static final int MOST_SESSIONS = 3_000;

    /** For how many seconds the locks of a turn are counted. */
    private static final double SECONDS = 5;

    /** How many locks come before the first turn of each series, so that the JIT compilers have done their work. */
    private static final int WARM_UP = 100_000;

    /**
     * The greatest load of the machine at which a run that is to be published may begin. Under more load, the page
     * would show the other work of the machine.
     */
    private static final double MOST_LOAD = 1;

    @Spec
    private CommandSpec spec;

    @Option(names = "--servers", split = ",", paramLabel = "N", description = "1 or 3 (default: 1,3)")
    private List<Integer> servers = List.of(1, 3);

    @Option(
            names = "--log",
            split = ",",
            paramLabel = "WHERE",
            description = "where servers keep their logs: disk is the folder for temporary files, memory is /dev/shm;"
                    + " they force each write in both (default: disk,memory)")
    private List<Store> stores = List.of(Store.DISK, Store.MEMORY);

    @Option(
            names = "--sessions",
            split = ",",
            paramLabel = "N",
            description = "how many take locks, in ascending order (default: 1,5,20,100,500,2000)")
    private List<Integer> sessions = List.of(1, 5, 20, 100, 500, 2_000);

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "where scale.md and scale.csv go (default: a run without options writes"
                    + " docs/scale.md and docs/dev/bench, another one nowhere)")
    private @Nullable Path out;

    private final DoubleSupplier machineLoad;

    /** Creates the command. */
    public Scale() {
        this(Machine::load);
    }

    Scale(DoubleSupplier machineLoad) {
        this.machineLoad = machineLoad;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        check();
        PrintWriter progress = spec.commandLine().getErr();
        double load = machineLoad.getAsDouble();
        List<String> args = spec.root().commandLine().getParseResult().originalArgs();
        boolean publishes = args.equals(List.of(spec.name()));
        if (publishes && !(load <= MOST_LOAD)) {
            progress.printf(
                    "The load of this machine is %.1f. docs/scale.md needs a quiet machine, with %.1f at most:"
                            + " wait, or have it written elsewhere with --out%n",
                    load, MOST_LOAD);
            return ExitCode.SOFTWARE;
        }
        List<Series> series = series();
        ScaleRun run = new ScaleRun(sessions, SECONDS, WARM_UP, progress::println);
        for (Series each : series) {
            progress.printf("[%d/%d] %s%n", series.indexOf(each) + 1, series.size(), each);
            run.play(each);
        }
        ScaleReport report = new ScaleReport(run.readings());
        String page = report.markdown(Machine.describe("bin/bench " + String.join(" ", args), stores, load));
        PrintWriter text = spec.commandLine().getOut();
        text.println(page);
        text.flush();
        Path home = Path.of(System.getProperty("bench.home", "."));
        if (out != null) {
            Files.createDirectories(out);
            Files.writeString(out.resolve("scale.csv"), report.csv());
            Files.writeString(out.resolve("scale.md"), page);
        } else if (publishes) {
            Files.writeString(home.resolve("docs/dev/bench/scale.csv"), report.csv());
            Path file = home.resolve("docs/scale.md");
            Files.writeString(file, insert(page, Files.readString(file)));
        }
        return ExitCode.OK;
    }

    /** Returns the document with this report in place of the one that it contains. */
    static String insert(String report, String document) {
        return REPORT.matcher(document).replaceFirst("$1" + Matcher.quoteReplacement(report) + "$2");
    }

    private List<Series> series() {
        List<Series> series = new ArrayList<>();
        for (int count : servers) {
            for (Store store : stores) {
                for (Work work : List.of(Work.MUTEX, Work.NEW_PATH)) {
                    for (Contender contender : Contender.values()) {
                        if (work == Work.MUTEX || store == Store.DISK) {
                            series.add(new Series(count, store, contender, work));
                        }
                    }
                }
            }
        }
        return series;
    }

    private void check() {
        require(Set.of(1, 3).containsAll(servers), "--servers must be 1 or 3, not " + servers);
        require(Ordering.natural().isStrictlyOrdered(sessions), "--sessions must ascend: " + sessions);
        int most = sessions.get(sessions.size() - 1);
        require(
                sessions.get(0) >= 1 && most <= MOST_SESSIONS,
                "--sessions must be from 1 to " + MOST_SESSIONS + ": " + sessions);
    }

    private void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }
}
