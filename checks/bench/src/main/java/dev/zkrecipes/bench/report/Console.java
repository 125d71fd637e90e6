// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.report;

import dev.zkrecipes.bench.cases.Target;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.measure.Metric;
import java.util.Locale;
import java.util.Optional;

/** A result for the eye. */
public final class Console {
    private Console() {}

    /** A headline, and a line for each metric. */
    public static String describe(Result result) {
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "%s, %s (a round trip takes %s us): %s%n",
                result.benchCase().name(),
                result.setting(),
                Rounding.of(result.roundTripMicros()),
                result.benchCase().description()));
        for (Metric metric : Metric.values()) {
            if (result.summary(Contender.OURS, metric).isPresent()
                    || result.summary(Contender.CURATOR, metric).isPresent()
                    || result.summary(Contender.BARE, metric).isPresent()) {
                text.append(describe(result, metric)).append(System.lineSeparator());
            }
        }
        return text.toString();
    }

    private static String describe(Result result, Metric metric) {
        StringBuilder line =
                new StringBuilder(String.format(Locale.ROOT, "  %-10s %-9s", metric.label(), metric.unit()));
        for (Contender contender : Contender.values()) {
            Optional<Summary> summary = result.summary(contender, metric);
            line.append(String.format(
                    Locale.ROOT,
                    " %s %-16s",
                    contender,
                    summary.map(each -> Rounding.of(each.median()) + " (" + Rounding.percent(each.spread()) + ")")
                            .orElse("-")));
        }
        for (Contender against : Contender.values()) {
            result.ratio(against, metric)
                    .ifPresent(ratio -> line.append(String.format(
                            Locale.ROOT,
                            " :%s %.2f (%.2f..%.2f)",
                            against,
                            ratio.median(),
                            ratio.least(),
                            ratio.greatest())));
        }
        for (Target target : result.benchCase().targets(result.setting(), metric)) {
            result.measured(target)
                    .ifPresent(measured -> line.append(String.format(
                            Locale.ROOT,
                            " [%s%s: %s]",
                            target.against().map(each -> each + " ").orElse(""),
                            target,
                            target.isMetBy(measured.median()) ? "met" : "MISSED")));
        }
        return line.toString();
    }
}
