// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.report;

import dev.zkrecipes.bench.cases.BenchCase;
import dev.zkrecipes.bench.cases.Target;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.measure.Metric;
import dev.zkrecipes.bench.measure.Sample;
import dev.zkrecipes.bench.measure.Setting;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The result of one case in one setting.
 *
 * @param benchCase the case
 * @param setting where it was measured
 * @param roundTripMicros the median time of the smallest request there, measured before
 * @param samples of each contender, in the order of the rounds
 */
public record Result(
        BenchCase benchCase, Setting setting, double roundTripMicros, Map<Contender, List<Sample>> samples) {

    /** The figures of one contender; empty if the metric was not measured. */
    public Optional<Summary> summary(Contender contender, Metric metric) {
        List<Double> values = values(contender, metric);
        return values.isEmpty()
                ? Optional.empty()
                : Optional.of(Summary.of(
                        values.stream().mapToDouble(Double::doubleValue).toArray()));
    }

    /** Ours divided by another's, round by round; empty if one of them was not measured, or was nothing. */
    public Optional<Summary> ratio(Contender against, Metric metric) {
        List<Double> ours = values(Contender.OURS, metric);
        List<Double> theirs = values(against, metric);
        if (against == Contender.OURS || ours.isEmpty() || theirs.isEmpty() || theirs.contains(0.0)) {
            return Optional.empty();
        }
        return Optional.of(Summary.ofRatios(ours, theirs));
    }

    /** The measured value for a target; empty if it was not measured. */
    public Optional<Summary> measured(Target target) {
        return target.against().isPresent()
                ? ratio(target.against().get(), target.metric())
                : summary(Contender.OURS, target.metric());
    }

    private List<Double> values(Contender contender, Metric metric) {
        return samples.getOrDefault(contender, List.of()).stream()
                .flatMap(sample -> Optional.ofNullable(sample.values().get(metric)).stream())
                .toList();
    }
}
