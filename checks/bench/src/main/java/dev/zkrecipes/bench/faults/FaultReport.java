// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import com.google.common.collect.ListMultimap;
import com.google.common.collect.MultimapBuilder;
import com.google.common.collect.Multimaps;
import com.google.common.collect.Range;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.faults.FaultVerdict.Evidence;
import dev.zkrecipes.bench.faults.FaultVerdict.Overlap;
import dev.zkrecipes.bench.faults.Referee.StaleWrite;
import dev.zkrecipes.bench.faults.ServerLog.Life;
import dev.zkrecipes.bench.report.Charts;
import dev.zkrecipes.bench.report.Table;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** The files of a run: a page in Markdown, a picture, and the data. */
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

    /** The bare client has the lock of the textbook. */
    private static String name(Contender contender) {
        return contender == Contender.BARE ? "textbook" : contender.title();
    }

    /** Writes them all. */
    void write(Path folder, String machine) throws IOException {
        Table results = results();
        draw(folder.resolve("violation.png"));
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
        Table table = new Table(row("counted", each -> name(each.contender())).toList());
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

    /** A wrong belief, preferably one of Curator's, with a stale write, and of these the longest; if there is one. */
    private void draw(Path file) throws IOException {
        Optional<Tenure> believer = verdicts.stream()
                .flatMap(verdict -> verdict.overlaps().stream())
                .max(Comparator.comparing((Overlap each) -> each.believer().contender() == Contender.CURATOR)
                        .thenComparing(each -> !staleWrites(each.believer()).isEmpty())
                        .thenComparing(Overlap::nanos))
                .map(Overlap::believer);
        if (believer.isPresent()) {
            Tenure a = believer.get();
            // With the last one who was granted the lock by then.
            Tenure b = evidence.tenures().stream()
                    .filter(each -> each.contender() == a.contender() && each.lock() == a.lock())
                    .filter(each -> !each.equals(a) && each.granted() < a.lastBelieved())
                    .max(Comparator.comparingLong(Tenure::granted))
                    .orElseThrow();
            String title = name(a.contender()) + ": A (client " + a.client() + ") believes it holds lock " + a.lock()
                    + ", which B (client " + b.client() + ") has been granted";
            Charts.spans(title, spans(a, b), file);
        }
    }

    /** By label, in seconds: the faults, and what two holders had and were told, until both knew the truth. */
    private ListMultimap<String, Range<Double>> spans(Tenure a, Tenure b) {
        long begin = Math.min(a.granted(), b.granted());
        long end = Math.max(Math.max(a.lastBelieved(), a.released()), b.granted());
        long margin = (end - begin) / 20;
        ListMultimap<String, Range<Long>> spans =
                MultimapBuilder.linkedHashKeys().arrayListValues().build();
        faults.forEach(fault -> spans.put(fault.step().kind().description(), Range.closed(fault.from(), fault.to())));
        addHolder("A", a, spans);
        staleWrites(a).forEach(at -> spans.put("A's stale write is accepted", Range.singleton(at)));
        addHolder("B", b, spans);
        spans.values().removeIf(span -> span.upperEndpoint() < begin - margin || span.lowerEndpoint() > end + margin);
        return Multimaps.transformValues(
                spans,
                span -> Range.closed(
                        (Math.max(span.lowerEndpoint(), begin - margin) - begin) / 1e9,
                        (Math.min(span.upperEndpoint(), end + margin) - begin) / 1e9));
    }

    private void addHolder(String name, Tenure tenure, ListMultimap<String, Range<Long>> spans) {
        Life life = evidence.log().lives().get(tenure.node());
        if (life != null) {
            spans.put(name + " has a node on the servers", Range.closed(life.createdAt(), life.deletedAt()));
        }
        spans.put(name + " is told that it holds", Range.singleton(tenure.granted()));
        tenure.believed().forEach(span -> spans.put(name + " believes it holds", Range.closed(span.from(), span.to())));
    }

    private List<Long> staleWrites(Tenure tenure) {
        return evidence.staleWrites().stream()
                .filter(write -> write.token() == tenure.token())
                .filter(write -> write.counter().equals(new Referee.Counter(tenure.contender(), tenure.lock(), false)))
                .map(StaleWrite::at)
                .toList();
    }

    /** Each hold, as its holder and the servers saw it. */
    private String holds() {
        Table table = Table.of("contender,lock,client,token,asked s,granted s,last believed s,released s,"
                + "node created s,node deleted s,write to any,write with token,write with guard");
        evidence.tenures().stream()
                .sorted(Comparator.comparingLong(Tenure::granted))
                .forEach(each -> {
                    Life life = evidence.log()
                            .lives()
                            .getOrDefault(each.node(), new Life("", 0, begun, 0, ServerLog.NEVER));
                    table.add(
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
        return table.csv();
    }

    private String seconds(long time) {
        return String.format(Locale.ROOT, "%.4f", (time - begun) / 1e9);
    }
}
