// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.faults.FaultVerdict.Evidence;
import dev.zkrecipes.bench.faults.FaultVerdict.Overlap;
import dev.zkrecipes.bench.faults.Referee.StaleWrite;
import dev.zkrecipes.bench.faults.ServerLog.Life;
import dev.zkrecipes.bench.report.Csv;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The files of a run: a page in Markdown and in HTML, a picture, and the data. */
final class FaultReport {
    private final Evidence evidence;
    private final List<FaultVerdict> verdicts;
    private final List<Arena.Played> faults;
    private final long begun;

    FaultReport(Evidence evidence, List<FaultVerdict> verdicts, List<Arena.Played> faults, long begun) {
        this.evidence = evidence;
        this.verdicts = verdicts;
        this.faults = faults;
        this.begun = begun;
    }

    private static String name(Contender contender) {
        return switch (contender) {
            case OURS -> "zkrecipes";
            case CURATOR -> "Curator";
            case BARE -> "textbook";
        };
    }

    /** Writes them all. */
    void write(Path folder, String machine) throws IOException {
        List<List<String>> played = faultCounts();
        List<List<String>> results = results();
        String picture = picture();
        Files.writeString(folder.resolve("violation.svg"), picture);
        Files.writeString(
                folder.resolve("report.md"), "```text\n" + machine + "```\n\n" + markdown(played) + markdown(results));
        Files.writeString(
                folder.resolve("report.html"),
                "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Three locks under faults</title>\n"
                        + "<style>body{font-family:sans-serif;margin:2em}td{padding:.2em .8em;text-align:right}"
                        + "td:first-child{text-align:left}tr:nth-child(odd){background:#eee}</style>\n<pre>"
                        + machine + "</pre>\n" + html(played) + html(results) + picture + "</html>\n");
        Files.writeString(folder.resolve("results.csv"), csv(results));
        Files.writeString(
                folder.resolve("faults.csv"),
                csv(Stream.concat(
                                Stream.of(List.of("fault", "target", "begins s", "ends s")),
                                faults.stream()
                                        .map(each -> List.of(
                                                each.step().kind().toString(),
                                                each.target(),
                                                seconds(each.from()),
                                                seconds(each.to()))))
                        .toList()));
        Files.writeString(folder.resolve("holds.csv"), holds());
    }

    private List<List<String>> faultCounts() {
        List<List<String>> rows = new ArrayList<>(List.of(List.of("fault", "times", "seconds in all")));
        for (FaultPlan.Kind kind : FaultPlan.Kind.values()) {
            LongSummaryStatistics lasted = faults.stream()
                    .filter(fault -> fault.step().kind() == kind)
                    .mapToLong(fault -> fault.to() - fault.from())
                    .summaryStatistics();
            rows.add(List.of(kind.description(), "" + lasted.getCount(), "" + Math.round(lasted.getSum() / 1e9)));
        }
        return rows;
    }

    private List<List<String>> results() {
        List<List<String>> rows = new ArrayList<>();
        rows.add(row("counted", each -> name(each.contender())));
        verdicts.stream()
                .flatMap(verdict -> verdict.figures().keySet().stream())
                .distinct()
                .forEach(figure -> rows.add(row(figure, each -> each.figures().getOrDefault(figure, "-"))));
        return rows;
    }

    private List<String> row(String label, Function<FaultVerdict, String> cell) {
        return Stream.concat(Stream.of(label), verdicts.stream().map(cell)).toList();
    }

    /** Preferably one of Curator's, with a stale write, and of these the longest. */
    private String picture() {
        Comparator<Overlap> byWeight = Comparator.comparing(
                        (Overlap each) -> each.believer().contender() == Contender.CURATOR)
                .thenComparing(each -> !staleWrites(each.believer()).isEmpty())
                .thenComparing(Overlap::nanos);
        Optional<Overlap> overlap = verdicts.stream()
                .flatMap(verdict -> verdict.overlaps().stream())
                .max(byWeight);
        return overlap.map(each -> picture(each.believer())).orElse("<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n");
    }

    /** With the last one who was granted the lock by then. */
    private String picture(Tenure believer) {
        Tenure holder = evidence.tenures().stream()
                .filter(each -> each.contender() == believer.contender() && each.lock() == believer.lock())
                .filter(each -> !each.equals(believer) && each.granted() < believer.lastBelieved())
                .max(Comparator.comparingLong(Tenure::granted))
                .orElseThrow();
        return HoldPicture.of(
                name(believer.contender()), believer, holder, evidence.log(), faults, staleWrites(believer));
    }

    private List<Long> staleWrites(Tenure tenure) {
        return evidence.staleWrites().stream()
                .filter(write -> write.token() == tenure.token())
                .filter(write -> write.counter().equals(new Referee.Counter(tenure.contender(), tenure.lock(), false)))
                .map(StaleWrite::at)
                .toList();
    }

    private static String markdown(List<List<String>> rows) {
        String rule = "|---" + "|---:".repeat(rows.get(0).size() - 1) + "|\n";
        List<String> lines = rows.stream()
                .map(row -> "| " + String.join(" | ", row) + " |\n")
                .toList();
        return lines.get(0) + rule + String.join("", lines.subList(1, lines.size())) + "\n";
    }

    private static String html(List<List<String>> rows) {
        return rows.stream()
                .map(row -> "<tr><td>" + String.join("</td><td>", row) + "</td></tr>")
                .collect(Collectors.joining("\n", "<table>\n", "\n</table>\n<p>\n"));
    }

    private static String csv(List<List<String>> rows) {
        Csv csv = new Csv(rows.get(0).toArray(String[]::new));
        rows.stream().skip(1).forEach(row -> csv.add(row.toArray()));
        return csv.toString();
    }

    /** Each hold, as its holder and the servers saw it. */
    private String holds() {
        String columns = "contender,lock,client,token,asked s,granted s,last believed s,released s,"
                + "node created s,node deleted s,write to any,write with token,write with guard";
        Csv csv = new Csv(columns.split(",", -1));
        evidence.tenures().stream()
                .sorted(Comparator.comparingLong(Tenure::granted))
                .forEach(each -> {
                    Life life = evidence.log()
                            .lives()
                            .getOrDefault(each.node(), new Life("", 0, begun, 0, ServerLog.NEVER));
                    csv.add(
                            name(each.contender()),
                            each.lock(),
                            each.client(),
                            each.token(),
                            seconds(each.asked()),
                            seconds(each.granted()),
                            each.believed().isEmpty() ? "" : seconds(each.lastBelieved()),
                            each.released() == 0 ? "" : seconds(each.released()),
                            seconds(life.createdAt()),
                            life.deletedAt() == ServerLog.NEVER ? "" : seconds(life.deletedAt()),
                            each.writes().get(0),
                            each.writes().get(1),
                            each.writes().get(2));
                });
        return csv.toString();
    }

    private String seconds(long time) {
        return String.format(Locale.ROOT, "%.4f", (time - begun) / 1e9);
    }
}
