// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.report;

import dev.zkrecipes.bench.cases.Target;
import dev.zkrecipes.bench.cases.WaysToWait;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.measure.Metric;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The files of a run. */
public final class ResultFiles {
    private ResultFiles() {}

    /** Medians, spreads and ratios, one line for each contender and metric. */
    public static String results(List<Result> results) {
        Csv csv = new Csv(
                "case",
                "round trip added ms",
                "store",
                "round trip measured us",
                "metric",
                "unit",
                "contender",
                "median",
                "least",
                "greatest",
                "rounds",
                "ours to it",
                "ours to it least",
                "ours to it greatest");
        for (Result result : results) {
            for (Metric metric : Metric.values()) {
                for (Contender contender : Contender.values()) {
                    result.summary(contender, metric)
                            .ifPresent(summary -> csv.add(line(result, metric, contender, summary)));
                }
            }
        }
        return csv.toString();
    }

    private static Object[] line(Result result, Metric metric, Contender contender, Summary summary) {
        Optional<Summary> ratio = result.ratio(contender, metric);
        return new Object[] {
            result.benchCase().name(),
            result.setting().roundTripMillis(),
            result.setting().store(),
            result.roundTripMicros(),
            metric.label(),
            metric.unit(),
            contender,
            summary.median(),
            summary.least(),
            summary.greatest(),
            summary.count(),
            ratio.<Object>map(Summary::median).orElse(""),
            ratio.<Object>map(Summary::least).orElse(""),
            ratio.<Object>map(Summary::greatest).orElse("")
        };
    }

    /** Every single figure. */
    public static String rounds(List<Result> results) {
        Csv csv = new Csv("case", "round trip added ms", "store", "contender", "round", "metric", "unit", "value");
        for (Result result : results) {
            result.samples().forEach((contender, samples) -> {
                for (int round = 0; round < samples.size(); round++) {
                    for (Map.Entry<Metric, Double> value :
                            samples.get(round).values().entrySet()) {
                        csv.add(
                                result.benchCase().name(),
                                result.setting().roundTripMillis(),
                                result.setting().store(),
                                contender,
                                round + 1,
                                value.getKey().label(),
                                value.getKey().unit(),
                                value.getValue());
                    }
                }
            });
        }
        return csv.toString();
    }

    /** The targets, and the values reached. */
    public static String targets(List<Result> results) {
        Csv csv = new Csv("case", "setting", "metric", "against", "target", "measured", "least", "greatest", "met");
        for (Result result : results) {
            for (Metric metric : Metric.values()) {
                for (Target target : result.benchCase().targets(result.setting(), metric)) {
                    result.measured(target)
                            .ifPresent(measured -> csv.add(
                                    result.benchCase().name(),
                                    result.setting(),
                                    metric.label(),
                                    target.against().<Object>map(each -> each).orElse(""),
                                    target,
                                    measured.median(),
                                    measured.least(),
                                    measured.greatest(),
                                    target.isMetBy(measured.median()) ? "yes" : "no"));
                }
            }
        }
        return csv.toString();
    }

    /** The cost of a hand-over for each of the three ways to wait. */
    public static String waysToWait(List<WaysToWait.Cost> costs) {
        Csv csv = new Csv("way", "waiters", "requests of a hand-over", "events of a hand-over");
        costs.forEach(cost -> csv.add(cost.way(), cost.waiters(), cost.requests(), cost.events()));
        return csv.toString();
    }
}
