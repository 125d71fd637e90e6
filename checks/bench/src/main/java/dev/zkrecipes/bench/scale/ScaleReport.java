// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import static dev.zkrecipes.bench.runner.Table.tenths;
import static dev.zkrecipes.bench.runner.Table.whole;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Work;
import dev.zkrecipes.bench.runner.Table;
import dev.zkrecipes.bench.scale.Reading.Series;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The report of a run: a page in Markdown, and the data. */
final class ScaleReport {
    private final List<Reading> readings;
    private final List<Series> series;

    ScaleReport(List<Reading> readings) {
        this.readings = readings;
        this.series = readings.stream().map(Reading::series).distinct().toList();
    }

    /**
     * Returns the page.
     *
     * @param machine what {@link dev.zkrecipes.bench.runner.Machine} says about the machine and the command
     */
    String markdown(String machine) {
        String answer = series.stream()
                .filter(each -> each.contender() == Contender.OURS)
                .map(each -> each.place() + ": " + whole(greatest(each).rate()) + " locks/s")
                .collect(Collectors.joining("; "));
        Table figures = new Table(List.of(
                "",
                "full, locks/s",
                "sessions",
                "at 50 %, ms to acquire",
                "at 90 %",
                "requests",
                "bytes",
                "leader, us",
                "clients, us",
                "load"));
        series.forEach(each -> figures.add(figures(each)));
        List<Integer> counts =
                readings.stream().map(Reading::sessions).distinct().sorted().toList();
        List<String> header = new ArrayList<>(List.of("locks/s of so many sessions"));
        counts.forEach(count -> header.add(count.toString()));
        Table rates = new Table(header);
        List<Series> known =
                series.stream().filter(each -> each.work() == Work.MUTEX).toList();
        for (Series each : known) {
            Map<Integer, Double> ofSeries = rates(each);
            rates.add(Stream.concat(
                            Stream.of(each),
                            counts.stream()
                                    .map(count -> ofSeries.containsKey(count)
                                            ? whole(ofSeries.getOrDefault(count, 0.0))
                                            : "-"))
                    .toArray());
        }
        return (answer.isEmpty() ? "" : "**" + answer + ".**\n\n")
                + figures.markdown() + "\n" + rates.markdown()
                + "\n```text\n" + machine + "```\n";
    }

    private Object[] figures(Series each) {
        Reading full = greatest(each);
        return new Object[] {
            each,
            whole(full.rate()),
            full.sessions(),
            waits(each, ScaleRun.PERCENTS.get(0)),
            waits(each, ScaleRun.PERCENTS.get(1)),
            tenths(full.requests()),
            whole(full.bytes()),
            whole(full.leaderMicros()),
            whole(full.clientsMicros()),
            tenths(full.load())
        };
    }

    private String waits(Series each, int percent) {
        return readings.stream()
                .filter(reading -> reading.series().equals(each) && reading.percent() == percent)
                .map(reading -> reading.isKeptUp()
                        ? tenths(reading.medianMillis()) + " (" + tenths(reading.slowMillis()) + ")"
                        : "only " + whole(reading.rate()) + " of " + whole(reading.offered()) + " locks/s")
                .findFirst()
                .orElse("-");
    }

    private Stream<Reading> full(Series each) {
        return readings.stream().filter(reading -> reading.series().equals(each) && reading.offered() == 0);
    }

    private Reading greatest(Series each) {
        return full(each).max(Comparator.comparingDouble(Reading::rate)).orElseThrow();
    }

    private Map<Integer, Double> rates(Series each) {
        Map<Integer, Double> rates = new TreeMap<>();
        full(each).forEach(reading -> rates.put(reading.sessions(), reading.rate()));
        return rates;
    }

    /** Returns all figures as comma-separated values. */
    String csv() {
        Table table = Table.of("servers,log,contender,work,sessions,percent,offered locks/s,locks/s,acquire median ms,"
                + "acquire 99 % ms,requests of a lock,bytes of a lock,leader us of a lock,clients us of a lock,"
                + "load after it");
        readings.forEach(each -> table.add(
                each.series().servers(),
                each.series().store(),
                each.series().contender(),
                each.series().work().name().toLowerCase(Locale.ROOT),
                each.sessions(),
                each.percent(),
                each.offered(),
                each.rate(),
                each.medianMillis(),
                each.slowMillis(),
                each.requests(),
                each.bytes(),
                each.leaderMicros(),
                each.clientsMicros(),
                each.load()));
        return table.csv();
    }
}
