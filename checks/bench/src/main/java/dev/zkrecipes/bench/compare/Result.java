// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import dev.zkrecipes.bench.compare.BenchCase.Setting;
import dev.zkrecipes.bench.compare.BenchCase.Target;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.runner.Table;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The result of one case in one setting.
 *
 * @param roundTripMicros the median time of the smallest request in this setting, measured before the rounds
 * @param rounds the figures of each contender, in the order of the rounds
 */
record Result(
        BenchCase benchCase,
        Setting setting,
        double roundTripMicros,
        Map<Contender, List<Map<Metric, Double>>> rounds) {

    /** The figures of one contender; empty if the metric was not measured. */
    Optional<Summary> summary(Contender contender, Metric metric) {
        double[] values = values(contender, metric).stream()
                .mapToDouble(Double::doubleValue)
                .toArray();
        return values.length == 0 ? Optional.empty() : Optional.of(Summary.of(values));
    }

    /**
     * Returns our figure divided by another contender's, round by round; empty if one of them was not measured, or if
     * the other's was 0 in a round.
     */
    Optional<Summary> ratio(Contender against, Metric metric) {
        List<Double> ours = values(Contender.OURS, metric);
        List<Double> theirs = values(against, metric);
        return against == Contender.OURS || ours.isEmpty() || theirs.isEmpty() || theirs.contains(0.0)
                ? Optional.empty()
                : Optional.of(Summary.ofRatios(ours, theirs));
    }

    /** The target for our figure, or for its ratio to another's; empty if there is none, or no such ratio. */
    private Optional<Target> target(Contender contender, Metric metric) {
        return benchCase.targets().stream()
                .filter(target -> target.metric() == metric && target.against() == contender)
                .filter(target -> setting.equals(Setting.memory(target.roundTripMillis())))
                .filter(target ->
                        contender == Contender.OURS || ratio(contender, metric).isPresent())
                .findFirst();
    }

    private List<Double> values(Contender contender, Metric metric) {
        return rounds.getOrDefault(contender, List.of()).stream()
                .filter(round -> round.containsKey(metric))
                .map(round -> round.getOrDefault(metric, 0.0))
                .toList();
    }

    /** Returns a text for people: a headline, and a line for each metric. */
    String describe() {
        StringBuilder text = new StringBuilder(benchCase.name() + ", " + setting + " (a round trip takes "
                + Table.digits(roundTripMicros) + " us): " + benchCase.description() + "\n");
        for (Metric metric : Metric.values()) {
            if (rounds.keySet().stream().anyMatch(each -> summary(each, metric).isPresent())) {
                text.append(String.format("  %-10s %-9s", metric, metric.unit()));
                for (Contender contender : rounds.keySet()) {
                    summary(contender, metric).ifPresent(summary -> text.append(describe(contender, metric, summary)));
                }
                text.append('\n');
            }
        }
        return text.toString();
    }

    private String describe(Contender contender, Metric metric, Summary summary) {
        Optional<Summary> ratio = ratio(contender, metric);
        return String.format(
                Locale.ROOT,
                " %s %s (%.0f%%)%s%s;",
                contender,
                Table.digits(summary.median()),
                100 * summary.spread(),
                cell(
                        ratio,
                        to -> String.format(
                                Locale.ROOT, ", ours to it %.2f (%.2f..%.2f)", to.median(), to.least(), to.greatest())),
                cell(
                        target(contender, metric),
                        target -> " [" + target + ": "
                                + (target.isMetBy(ratio.orElse(summary).median()) ? "met" : "MISSED") + "]"));
    }

    /**
     * Returns a table of medians, least and greatest figures, and ratios, with one row for each contender and metric.
     */
    static Table results(List<Result> results) {
        Table table = Table.of("case,round trip added ms,store,round trip measured us,metric,unit,contender,median,"
                + "least,greatest,rounds,ours to it,ours to it least,ours to it greatest,target,met");
        for (Result result : results) {
            for (Metric metric : Metric.values()) {
                for (Contender contender : Contender.values()) {
                    result.summary(contender, metric).ifPresent(summary -> {
                        Optional<Summary> ratio = result.ratio(contender, metric);
                        Optional<Target> target = result.target(contender, metric);
                        table.add(
                                result.benchCase.name(),
                                result.setting.roundTripMillis(),
                                result.setting.store(),
                                result.roundTripMicros,
                                metric,
                                metric.unit(),
                                contender,
                                summary.median(),
                                summary.least(),
                                summary.greatest(),
                                summary.count(),
                                cell(ratio, Summary::median),
                                cell(ratio, Summary::least),
                                cell(ratio, Summary::greatest),
                                cell(target, Target::toString),
                                cell(
                                        target,
                                        each -> each.isMetBy(
                                                        ratio.orElse(summary).median())
                                                ? "yes"
                                                : "no"));
                    });
                }
            }
        }
        return table;
    }

    private static <T> Object cell(Optional<T> from, Function<T, Object> value) {
        return from.map(value).orElse("");
    }
}
