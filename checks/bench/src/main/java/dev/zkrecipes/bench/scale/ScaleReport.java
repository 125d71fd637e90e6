// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.report.Charts;
import dev.zkrecipes.bench.report.Csv;
import dev.zkrecipes.bench.server.Store;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a run found: a page in Markdown, the data, and a picture for each store. */
final class ScaleReport {
    private final List<Reading> readings;
    private final List<String> failures;
    private final List<Series> series;

    ScaleReport(List<Reading> readings, List<String> failures) {
        this.readings = readings;
        this.failures = failures;
        this.series = readings.stream().map(Reading::series).distinct().toList();
    }

    /**
     * The page.
     *
     * @param machine where it was measured
     */
    String markdown(String machine) {
        List<Integer> counts =
                readings.stream().map(Reading::sessions).distinct().sorted().toList();
        List<String> lines = new ArrayList<>();
        if (series.stream().anyMatch(each -> each.contender() == Contender.OURS)) {
            lines.add(answer() + "\n");
        }
        lines.add("| | full, locks/s | sessions | at 50 %, ms to acquire | at 90 % | requests | bytes | leader, us"
                + " | clients, us |");
        lines.add("|---|" + "---:|".repeat(8));
        series.forEach(each -> lines.add(row(figures(each))));
        lines.add("\n| locks/s of so many sessions | "
                + counts.stream().map(String::valueOf).collect(Collectors.joining(" | "))
                + " | curve: most | half | off by |");
        lines.add("|---|" + "---:|".repeat(counts.size() + 3));
        series.forEach(each -> lines.add(row(rates(each, counts))));
        failures.forEach(failure -> lines.add("\n**Not measured**: " + failure));
        lines.add("\n```text\n" + machine + "```\n");
        return String.join("\n", lines);
    }

    /** What this library's mutex gets. */
    private String answer() {
        return series.stream()
                .filter(each -> each.contender() == Contender.OURS)
                .map(each -> each.place() + ": " + whole(greatest(each).rate()) + " locks/s")
                .collect(Collectors.joining("; ", "**", ".**"));
    }

    private List<String> figures(Series each) {
        Reading full = greatest(each);
        return List.of(
                each.toString(),
                whole(full.rate()),
                String.valueOf(full.sessions()),
                waits(each, ScaleRun.PERCENTS.get(0)),
                waits(each, ScaleRun.PERCENTS.get(1)),
                digits(full.requests()),
                whole(full.bytes()),
                whole(full.leaderMicros()),
                whole(full.clientsMicros()));
    }

    private String waits(Series each, int percent) {
        return readings.stream()
                .filter(reading -> reading.series().equals(each) && reading.percent() == percent)
                .map(reading -> reading.isKeptUp()
                        ? digits(reading.medianMillis()) + " (" + digits(reading.slowMillis()) + ")"
                        : "only " + whole(reading.rate()) + " of " + whole(reading.offered()) + " locks/s")
                .findFirst()
                .orElse("-");
    }

    private List<String> rates(Series each, List<Integer> counts) {
        Map<Integer, Double> rates = rates(each);
        List<String> cells = new ArrayList<>(List.of(each.toString()));
        counts.forEach(count -> cells.add(rates.containsKey(count) ? whole(rates.getOrDefault(count, 0.0)) : "-"));
        if (rates.size() >= SaturationCurve.LEAST_POINTS) {
            SaturationCurve curve = SaturationCurve.fit(rates);
            cells.add(whole(curve.most()));
            cells.add(digits(curve.half()));
            cells.add(whole(100 * curve.deviation(rates)) + " %");
        }
        return cells;
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

    private static String row(List<String> cells) {
        return "| " + String.join(" | ", cells) + " |";
    }

    private static String whole(double value) {
        return String.format(Locale.ROOT, "%,.0f", value);
    }

    private static String digits(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }

    /** All figures. */
    String csv() {
        String columns = "servers,log,contender,sessions,percent,offered locks/s,locks/s,acquire median ms,"
                + "acquire 99 % ms,requests of a lock,bytes of a lock,leader us of a lock,clients us of a lock";
        Csv csv = new Csv(columns.split(",", -1));
        readings.forEach(each -> csv.add(
                each.series().servers(),
                each.series().store(),
                each.series().contender(),
                each.sessions(),
                each.percent(),
                each.offered(),
                each.rate(),
                each.medianMillis(),
                each.slowMillis(),
                each.requests(),
                each.bytes(),
                each.leaderMicros(),
                each.clientsMicros()));
        return csv.toString();
    }

    /** For each store the rates as points, and the curves. */
    void draw(Path folder) throws IOException {
        for (Store store : Store.values()) {
            List<Charts.Curve> curves = series.stream()
                    .filter(each -> each.store() == store && rates(each).size() >= SaturationCurve.LEAST_POINTS)
                    .map(each -> new Charts.Curve(
                            each.servers() + " x " + each.name(), rates(each), SaturationCurve.fit(rates(each))::rate))
                    .toList();
            if (!curves.isEmpty()) {
                String title = "locks a second, log " + (store == Store.DISK ? "on disk" : "in memory");
                Charts.curves(title, "sessions", "locks/s", curves, folder.resolve("scale-" + store + ".png"));
            }
        }
    }
}
