// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.cases;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.measure.Metric;
import java.util.Locale;
import java.util.Optional;

/**
 * What a figure of ours ought to be. For a metric of which more is better the bound is the least, else the greatest.
 *
 * @param roundTripMillis where it is to hold
 * @param metric what is looked at
 * @param against whose figure ours is divided by; empty if ours itself is meant
 * @param bound the bound of the ratio or of the figure
 */
public record Target(int roundTripMillis, Metric metric, Optional<Contender> against, double bound) {
    static Target ratio(int roundTripMillis, Metric metric, Contender against, double bound) {
        return new Target(roundTripMillis, metric, Optional.of(against), bound);
    }

    static Target figure(int roundTripMillis, Metric metric, double bound) {
        return new Target(roundTripMillis, metric, Optional.empty(), bound);
    }

    /** Whether a measured ratio or figure meets it. */
    public boolean isMetBy(double measured) {
        return metric.moreIsBetter() ? measured >= bound : measured <= bound;
    }

    @Override
    public String toString() {
        return (metric.moreIsBetter() ? ">= " : "<= ") + String.format(Locale.ROOT, "%s", bound);
    }
}
