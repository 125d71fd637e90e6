// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.runner.Machine;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code bin/faults} command. */
@Command(
        name = "faults",
        description = {
            "Plays faults on three servers and five clients that use this library's mutex, Apache Curator's and that"
                    + " of ZooKeeper's documentation at the same time, and counts who held, who believed they held, and"
                    + " whose writes were lost.",
            "Ends with 1 if this library broke a promise."
        },
        mixinStandardHelpOptions = true)
public final class Faults implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(names = "--minutes", paramLabel = "N", description = "for how long faults are played (default: 10)")
    private double minutes = 10;

    @Option(names = "--seed", paramLabel = "N", description = "which faults are played (default: a fresh one)")
    private long seed = new Random().nextInt(1_000_000);

    @Option(
            names = "--sync-limit",
            paramLabel = "TICKS",
            description =
                    "after how many ticks a follower and its leader that do not hear each other give up; a session"
                            + " lasts ten ticks of 0.4 s (default: 5, as in ZooKeeper's sample configuration)")
    private int syncLimit = 5;

    @Option(names = "--out", paramLabel = "DIR", description = "a new folder for the results (default: faults)")
    private Path out = Path.of("faults");

    @Override
    public Integer call() throws Exception {
        if (Files.exists(out)) {
            throw new ParameterException(spec.commandLine(), out + " exists already");
        }
        PrintWriter text = spec.commandLine().getOut();
        double load = Machine.load();
        long begun = System.nanoTime();
        try (Arena arena = new Arena(List.of(Contender.values()), seed, syncLimit)) {
            arena.playFor(Duration.ofMillis((long) (minutes * 60_000)), text);
            Arena.Judgement judgement = arena.finish();
            Files.createDirectories(out);
            new FaultReport(judgement, arena.played(), begun).write(out, machine(load));
            text.println(Files.readString(out.resolve("report.md")));
            List<String> violations = judgement.verdicts().stream()
                    .filter(each -> each.subject() == Contender.OURS)
                    .flatMap(each -> each.violations().stream())
                    .toList();
            violations.forEach(each -> text.println("zkrecipes broke a promise: " + each));
            text.flush();
            return violations.isEmpty() ? ExitCode.OK : ExitCode.SOFTWARE;
        }
    }

    private String machine(double load) {
        List<String> args = spec.root().commandLine().getParseResult().originalArgs();
        return Machine.describe("bin/bench " + String.join(" ", args) + ", with the seed " + seed, List.of(), load);
    }
}
