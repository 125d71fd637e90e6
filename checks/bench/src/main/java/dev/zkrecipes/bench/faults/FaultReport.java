// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Subject;
import dev.zkrecipes.bench.faults.FaultVerdict.Evidence;
import dev.zkrecipes.bench.faults.ServerLog.Life;
import dev.zkrecipes.bench.runner.Table;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.function.Function;
import java.util.stream.Stream;

/** The files of a run: a page in Markdown, and the data. */
final class FaultReport {
    private final Evidence evidence;
    private final List<FaultVerdict> verdicts;
    private final List<Arena.Played> faults;
    private final long begun;

    FaultReport(Arena.Judgement judgement, List<Arena.Played> faults, long begun) {
        this.evidence = judgement.evidence();
        this.verdicts = judgement.verdicts();
        this.faults = faults;
        this.begun = begun;
    }

    /**
     * Returns the name of a subject in the report. The bare client uses the lock of ZooKeeper's documentation here, so
     * it is called textbook.
     */
    private static String name(Subject subject) {
        return subject == Contender.BARE ? "textbook" : subject.title();
    }

    /** Writes all files into a folder. */
    void write(Path folder, String machine) throws IOException {
        Table results = results();
        Files.writeString(
                folder.resolve("report.md"),
                "```text\n" + machine + "```\n\n" + faultCounts().markdown() + "\n" + results.markdown());
        Files.writeString(folder.resolve("results.csv"), results.csv());
        Table played = Table.of("fault,target,begins s,ends s");
        faults.forEach(each -> played.add(each.step().kind(), each.target(), seconds(each.from()), seconds(each.to())));
        Files.writeString(folder.resolve("faults.csv"), played.csv());
        Files.writeString(folder.resolve("holds.csv"), holds());
    }

    private Table faultCounts() {
        Table table = Table.of("fault,times,seconds in all");
        for (FaultPlan.Kind kind : FaultPlan.Kind.values()) {
            LongSummaryStatistics lasted = faults.stream()
                    .filter(fault -> fault.step().kind() == kind)
                    .mapToLong(fault -> fault.to() - fault.from())
                    .summaryStatistics();
            table.add(kind.description(), lasted.getCount(), Math.round(lasted.getSum() / 1e9));
        }
        return table;
    }

    private Table results() {
        Table table = new Table(row("counted", each -> name(each.subject())).toList());
        verdicts.stream()
                .flatMap(verdict -> verdict.figures().keySet().stream())
                .distinct()
                .forEach(figure -> table.add(row(figure, each -> each.figures().getOrDefault(figure, "-"))
                        .toArray()));
        return table;
    }

    private Stream<String> row(String label, Function<FaultVerdict, String> cell) {
        return Stream.concat(Stream.of(label), verdicts.stream().map(cell));
    }

    /** Returns comma-separated values with a line for each hold, as its holder and the servers saw it. */
    private String holds() {
        Table table = Table.of("contender,lock,client,token,asked s,granted s,last believed s,released s,"
                + "node created s,node deleted s,write to any,write with token,write with guard");
        evidence.tenures().stream()
                .sorted(Comparator.comparingLong(Tenure::granted))
                .forEach(each -> {
                    Life life = evidence.log().lives().get(each.node()); // null if no server has logged it
                    table.add(
                            name(each.subject()),
                            each.lock(),
                            each.client(),
                            each.token(),
                            seconds(each.asked()),
                            seconds(each.granted()),
                            each.believed().isEmpty() ? "" : seconds(each.lastBelieved()),
                            each.released() == 0 ? "" : seconds(each.released()),
                            life == null ? "" : seconds(life.createdAt()),
                            life == null || life.deletedAt() == ServerLog.NEVER ? "" : seconds(life.deletedAt()),
                            each.writes().get(0),
                            each.writes().get(1),
                            each.writes().get(2));
                });
        return table.csv();
    }

    private String seconds(long time) {
        return String.format(Locale.ROOT, "%.4f", (time - begun) / 1e9);
    }
}
